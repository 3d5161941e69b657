// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Finds the names that somebody may have meant.
enum SimilarNames {
    /// At most three names that differ from `name` by few characters or begin with it, the nearest first.
    static func of(_ name: String, among names: [String]) -> [String] {
        let wanted = Array(name.lowercased().unicodeScalars)
        let near = names.compactMap { candidate -> (name: String, distance: Int)? in
            let other = Array(candidate.lowercased().unicodeScalars)
            let distance = distance(wanted, other)
            let isNear = distance <= max(1, wanted.count / 3)
            let isLonger = wanted.count >= 3 && candidate.lowercased().hasPrefix(name.lowercased())
            return isNear || isLonger ? (candidate, distance) : nil
        }
        return near.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
    }

    /// How many characters must be added, removed or replaced to make one of the other (Levenshtein).
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var row = Array(0...right.count)
        for (i, scalar) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in right.enumerated() {
                let replaced = diagonal + (scalar == other ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[right.count]
    }
}
