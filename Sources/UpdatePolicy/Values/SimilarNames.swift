/// Finds the names that somebody may have meant.
package enum SimilarNames {
    /// The longest name that is compared, in characters: the work grows with the square.
    private static let longestName = 255

    /// The names that differ from `name` by few characters, begin with it or end with it behind a dot, the nearest first.
    /// Case does not count.
    package static func of(_ name: String, among names: [String]) -> [String] {
        let wanted = Array(name.lowercased().unicodeScalars)
        guard wanted.count <= longestName else { return [] }
        let near = names.compactMap { candidate -> (name: String, distance: Int)? in
            let other = Array(candidate.lowercased().unicodeScalars)
            guard other.count <= longestName else { return nil }
            let distance = editDistance(wanted, other)
            let isNear = distance <= max(1, min(wanted.count, other.count) / 3)
            let isPart = other.starts(with: wanted) || other.reversed().starts(with: (["."] + wanted).reversed())
            return isNear || isPart && wanted.count >= 3 ? (candidate, distance) : nil
        }
        return near.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.map(\.name)
    }
}

/// How many elements must be added, removed, replaced or swapped with the next to make one array of the other.
///
/// This is the optimal string alignment distance: no part is edited twice.
private func editDistance<Element: Equatable>(_ left: [Element], _ right: [Element]) -> Int {
    var rows = [Array(0...right.count)]
    for row in left.indices {
        var distances = [row + 1]
        for column in right.indices {
            var least = min(rows[row][column + 1] + 1, distances[column] + 1)
            least = min(least, rows[row][column] + (left[row] == right[column] ? 0 : 1))
            if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                least = min(least, rows[row - 1][column - 1] + 1)
            }
            distances.append(least)
        }
        rows.append(distances)
    }
    return rows[left.count][right.count]
}
