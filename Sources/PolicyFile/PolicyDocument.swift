// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import PolicyStore

/// A policy as a file holds it: its rows, and where in the file each of them stands.
public struct PolicyDocument: Sendable {
    /// The places of a row in the file.
    struct Places: Sendable {
        let row: FilePosition
        var columns: [String: FilePosition] = [:]
    }

    /// The number of the format that this program reads and writes, the value of the key `versiongate`.
    public static let format = 1
    /// The largest file that is read, in bytes.
    public static let largestFile = 16 << 20

    /// The rows, in the order of the file.
    public internal(set) var rows = PolicyRows()
    var places: [PolicyTable: [Places]] = [:]

    init() {}

    /// Where a row, or a column of it, stands in the file.
    ///
    /// - Parameters:
    ///   - place: The row's place among ``rows`` of the table; nil for the beginning of the file.
    ///   - column: The column; where the file says nothing of it, the row is given.
    public func position(table: PolicyTable?, place: Int?, column: String?) -> FilePosition? {
        guard let table, let place, let places = places[table], places.indices.contains(place) else { return nil }
        return column.flatMap { places[place].columns[$0] } ?? places[place].row
    }
}
