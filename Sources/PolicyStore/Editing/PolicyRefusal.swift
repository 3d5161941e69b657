// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Postgres
public import UpdatePolicy

/// A wanted row that the database refuses.
public struct PolicyRefusal: Sendable {
    /// What the database says.
    public let error: PostgresError
    /// The table of the row, if it is known.
    public let table: PolicyTable?
    /// The place of the row among the wanted ones of its table, if it is known and the row is not to be removed.
    public let place: Int?

    /// The column concerned.
    public var column: String? { error.column }
}

/// The wanted rows that the database refuses: never none.
public struct PolicyRefusals: Error, Sendable {
    /// Each row, in the order in which rows are written.
    public let refusals: [PolicyRefusal]
}
