/// A typed row of a policy table, with the rows that belong to it.
package protocol PolicyRecord: Sendable, Equatable {
    static var table: PolicyTable { get }

    /// A record in which every column has its default, and required columns are empty.
    static var blank: Self { get }

    /// The columns that people edit, in the order in which they are read and written. Every stored property has
    /// one, except the id of a release and the rows of other tables.
    static var columns: [PolicyColumn<Self>] { get }

    /// The column that names the app or rule which the record belongs to and stands in; nil for one that stands alone.
    static var owner: ColumnDefinition? { get }
}

extension PolicyRecord {
    package static var owner: ColumnDefinition? { nil }

    /// Whether the record equals another one in all columns of these roles.
    ///
    /// Texts are compared byte by byte: Swift takes some as equal that differ in a check. The case of a bundle does not
    /// count.
    package func isLike(_ other: Self, in roles: Set<ColumnRole>) -> Bool {
        Self.columns.allSatisfy { column in
            !roles.contains(column.role)
                || column.value(of: self).identity(as: column.type) == column.value(of: other).identity(as: column.type)
        }
    }
}
