package import UpdatePolicy

/// An entry of the history: the changes of one transaction to the policy.
package struct PolicyChange: Sendable, Hashable, Decodable {
    /// The id of the entry, which is the revision that it made.
    package let id: Int64
    package let at: Timestamp
    /// The database role that logged in.
    package let role: String
    /// The operating system's user, when the command line edited.
    package let osUser: String?
    /// The program that edited, as it named itself.
    package let tool: String?
    package let why: String?
    package let undoes: Int64?
    /// The rows that differ, in the order of their first edit; the first ones where not all were read.
    package let rows: [Row]
    /// How many rows of each table differ, by kind, in the order of their first edit; of all rows, read or not.
    package let counts: [Count]

    /// Who made it: `anna (ann)`.
    package var author: String { osUser.map { "\(role) (\($0))" } ?? role }

    package var rowCount: Int { counts.reduce(0) { $0 + $1.rows } }

    init(
        id: Int64,
        at: Timestamp,
        role: String,
        osUser: String?,
        tool: String?,
        why: String?,
        undoes: Int64?,
        rows: [Row],
        counts: [Count]? = nil
    ) {
        self.id = id
        self.at = at
        self.role = role
        self.osUser = osUser
        self.tool = tool
        self.why = why
        self.undoes = undoes
        self.rows = rows
        self.counts = counts ?? Self.counts(rows)
    }

    private static func counts(_ rows: [Row]) -> [Count] {
        rows.reduce(into: []) { counts, row in
            let index = counts.firstIndex { $0.table == row.table && $0.kind == row.kind }
            let count = Count(table: row.table, kind: row.kind, rows: (index.map { counts[$0].rows } ?? 0) + 1)
            if let index { counts[index] = count } else { counts.append(count) }
        }
    }

    package struct Row: Sendable, Hashable, Decodable {
        package let table: String
        /// The row's key, as people read it.
        package let key: String
        package let kind: Kind
        /// The columns that differ, in the order of the table.
        package let columns: [Column]
    }

    package struct Count: Sendable, Hashable, Decodable {
        package let table: String
        package let kind: Kind
        package let rows: Int
    }

    package enum Kind: String, Sendable, Decodable {
        case added
        case changed
        case removed
    }

    /// A column's value before and after; nil is SQL's null.
    package struct Column: Sendable, Hashable, Decodable {
        package let name: String
        package let before: String?
        package let after: String?
    }
}
