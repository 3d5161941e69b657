package import UpdatePolicy

/// An entry of the history: the changes of one transaction to the policy.
package struct PolicyChange: Sendable, Hashable, Decodable {
    /// The revision that it made.
    package let id: Int64
    package let at: Timestamp
    package let role: String
    package let osUser: String?
    package let tool: String?
    package let why: String?
    package let undoes: Int64?
    /// The rows that differ, in the order of their first edit; the first ones where not all were read.
    package let rows: [Row]
    /// How many rows of each table differ, by kind, in the order of their first edit; of all rows, read or not.
    package let counts: [Count]

    package var author: String { osUser.map { "\(role) (\($0))" } ?? role }
    package var origin: LockoutShare.Change { .init(id: id, at: at, role: role, tool: tool) }
    package var rowCount: Int { counts.reduce(0) { $0 + $1.rows } }

    package struct Row: Sendable, Hashable, Decodable {
        package let table: String
        package let key: String
        package let kind: Kind
        package let columns: [Column]
    }

    package struct Count: Sendable, Hashable, Decodable {
        package let table: String
        package let kind: Kind
        package let rows: Int
    }

    package enum Kind: String, Sendable, Decodable {
        case added, changed, removed
    }

    /// A column's value before and after; nil is SQL's null.
    package struct Column: Sendable, Hashable, Decodable {
        package let name: String
        package let before: String?
        package let after: String?
    }
}
