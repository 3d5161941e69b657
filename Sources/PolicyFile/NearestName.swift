// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Finds the name that somebody may have meant.
enum NearestName {
    /// The name that takes the fewest edits to be reached, unless it takes too many to be meant.
    static func of(_ text: String, among names: [String]) -> String? {
        let written = text.lowercased().replacing("-", with: "_")
        let nearest = names.map { ($0, distance(Array(written.utf8), Array($0.utf8))) }.min { $0.1 < $1.1 }
        guard let (name, distance) = nearest, distance <= max(1, min(written.utf8.count, name.utf8.count) / 3) else {
            return names.first { $0.hasPrefix(written) && written.utf8.count >= 3 }
        }
        return name
    }

    /// How many bytes have to be added, removed or replaced (Levenshtein's distance).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        guard left.count <= 64 else { return .max }
        var row = Array(0...right.count)
        for (place, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = place + 1
            for column in right.indices {
                let substitution = diagonal + (byte == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(substitution, row[column] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
