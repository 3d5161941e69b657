// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Postgres
public import UpdatePolicy

/// A wanted row that the database refuses.
public struct PolicyRefusal: Sendable {
    /// The error of the database.
    public let error: PostgresError
    /// The table of the row, if it is known.
    public let table: PolicyTable?
    /// The index of the row among the wanted rows of its table; nil if it is unknown or the row is to be removed.
    public let index: Int?

    /// The column that was refused.
    public var column: String? { error.column }
}

/// The wanted rows that the database refuses: never none.
public struct PolicyRefusals: Error, Sendable {
    /// Each row, in the order in which rows are written.
    public let refusals: [PolicyRefusal]
}
