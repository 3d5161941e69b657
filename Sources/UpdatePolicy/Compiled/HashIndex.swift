// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The rules that ask for a certain value, found by the value's hash.
///
/// Two values may share a hash, so what is found must still be compared.
struct HashIndex: Sendable {
    private let hashes: [UInt64]
    private let rules: [UInt32]

    init(_ entries: [(hash: UInt64, rule: UInt32)]) {
        let sorted = entries.sorted { ($0.hash, $0.rule) < ($1.hash, $1.rule) }
        hashes = sorted.map(\.hash)
        rules = sorted.map(\.rule)
    }

    var isEmpty: Bool { rules.isEmpty }

    /// Appends each rule filed under the hash.
    func append(_ hash: UInt64, to numbers: inout RuleNumbers) {
        var low = 0
        var high = hashes.count
        while low < high {
            let middle = (low &+ high) >> 1
            if hashes[middle] < hash { low = middle &+ 1 } else { high = middle }
        }
        while low < hashes.count, hashes[low] == hash {
            numbers.append(rules[low])
            low &+= 1
        }
    }

    static func hash(region: UInt16) -> UInt64 {
        var hash = ByteHash()
        hash.combine(region)
        return hash.value
    }

    /// The hash of a language range in its normal form.
    static func hash(language: UnsafeRawBufferPointer) -> UInt64 {
        var hash = ByteHash()
        hash.combine(language)
        return hash.value
    }

    static func hash(attribute name: UTF8Text, value: UTF8Text) -> UInt64 {
        var hash = ByteHash()
        name.string.withBytes { hash.combine($0) }
        value.string.withBytes { hash.combine($0) }
        return hash.value
    }
}
