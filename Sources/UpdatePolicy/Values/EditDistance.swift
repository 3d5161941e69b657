// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// How many elements must be added, removed, replaced or swapped with the next to make one array of the other.
///
/// This is the optimal string alignment distance: no part is edited twice.
package func editDistance<Element: Equatable>(_ left: [Element], _ right: [Element]) -> Int {
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
