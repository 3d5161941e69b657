// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A row of a policy table, typed: what people edit in it, and what belongs to it.
public protocol PolicyRecord: Sendable, Equatable {
    /// The table.
    static var table: PolicyTable { get }

    /// A record in which every column has its default, and those that must be said are empty.
    static var blank: Self { get }

    /// The columns that people edit, in the order in which they are read and written. Every stored property is held by
    /// one, but for the number of a release and the rows of other tables.
    static var columns: [PolicyColumn<Self>] { get }

    /// The column that names the app or rule which the record belongs to and stands in; nil for one that stands alone.
    static var owner: ColumnDefinition? { get }
}

extension PolicyRecord {
    /// No owner.
    public static var owner: ColumnDefinition? { nil }

    /// Whether the record is like another one in all columns of these roles.
    ///
    /// Texts are compared byte by byte: Swift takes some as equal that a check tells apart. A bundle that is written in
    /// another case is the same bundle.
    func isLike(_ other: Self, in roles: Set<ColumnRole>) -> Bool {
        Self.columns.allSatisfy { column in
            !roles.contains(column.role)
                || column.value(of: self).identity(as: column.type) == column.value(of: other).identity(as: column.type)
        }
    }
}
