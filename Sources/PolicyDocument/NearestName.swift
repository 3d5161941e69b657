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

    /// How many bytes have to be added, removed, replaced or swapped with the next (optimal string alignment).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        guard left.count <= 64 else { return .max }
        var rows = [Array(0...right.count)]
        for place in left.indices {
            var row = [place + 1]
            for column in right.indices {
                var least = min(rows[place][column + 1] + 1, row[column] + 1)
                least = min(least, rows[place][column] + (left[place] == right[column] ? 0 : 1))
                if place > 0, column > 0, left[place] == right[column - 1], left[place - 1] == right[column] {
                    least = min(least, rows[place - 1][column - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
