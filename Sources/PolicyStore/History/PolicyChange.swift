// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// An entry of the history: the changes of one transaction to the policy.
public struct PolicyChange: Sendable, Hashable {
    /// The id of the entry, which is the revision that it made.
    public let id: Int64
    /// When it was committed.
    public let at: Timestamp
    /// The database role that logged in.
    public let role: String
    /// The operating system's user, when the command line edited.
    public let osUser: String?
    /// The program that edited, as it named itself.
    public let tool: String?
    /// The reason given.
    public let why: String?
    /// The entry that this one undoes.
    public let undoes: Int64?
    /// The rows that differ, in the order of their first edit; the first ones where not all were read.
    public let rows: [Row]
    /// How many rows of each table differ, by kind, in the order of their first edit; of all rows, read or not.
    public let counts: [Count]

    /// How many rows differ.
    public var rowCount: Int { counts.reduce(0) { $0 + $1.rows } }

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

    /// A row that was added, changed or removed.
    public struct Row: Sendable, Hashable {
        /// The table.
        public let table: String
        /// The row's key, as people read it.
        public let key: String
        /// The kind of the change.
        public let kind: Kind
        /// The columns that differ, in the order of the table.
        public let columns: [Column]
    }

    /// How many rows of a table were added, changed or removed.
    public struct Count: Sendable, Hashable {
        /// The table.
        public let table: String
        /// The kind of their change.
        public let kind: Kind
        /// How many rows.
        public let rows: Int
    }

    /// A kind of change to a row.
    public enum Kind: String, Sendable {
        /// The row is new.
        case added
        /// Some columns are different.
        case changed
        /// The row is gone.
        case removed
    }

    /// A column's value before and after; nil is SQL's null.
    public struct Column: Sendable, Hashable {
        /// The column.
        public let name: String
        /// Its value before.
        public let before: String?
        /// Its value after.
        public let after: String?
    }
}
