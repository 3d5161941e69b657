// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Keys with their numbers, as a table hands them over: the bytes of all keys in one array.
struct DrainedCounts<Counts: Sendable>: Sendable {
    private var bytes: [UInt8] = []
    private var ends: [(end: Int, counts: Counts)] = []

    /// How many keys there are; a key may be among them several times.
    var count: Int { ends.count }

    mutating func append(_ key: ArraySlice<UInt8>, _ counts: Counts) {
        bytes.append(contentsOf: key)
        ends.append((bytes.count, counts))
    }

    /// What `transform` makes of each key and its numbers.
    func map<Result>(_ transform: (ArraySlice<UInt8>, Counts) -> Result) -> [Result] {
        var start = 0
        return ends.map { end, counts in
            defer { start = end }
            return transform(bytes[start..<end], counts)
        }
    }
}
