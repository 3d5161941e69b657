// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

package import Postgres
import UpdatePolicy

/// A session that has edited the policy, or locked rows of it, and has neither committed nor rolled back.
package struct OpenEdit: Sendable {
    /// The process ID of the server process.
    package let processID: Int32
    /// The role that logged in.
    package let role: String
    /// The program, as it named itself; may be empty.
    package let application: String
    /// Whether whoever asks may end the session.
    package let mayBeEnded: Bool

    /// A session with these facts.
    package init(processID: Int32, role: String, application: String, mayBeEnded: Bool) {
        self.processID = processID
        self.role = role
        self.application = application
        self.mayBeEnded = mayBeEnded
    }

    /// The session, for people: `process 7316 of anna (psql)`.
    package var words: String {
        "process \(processID) of \(role)" + (application.isEmpty ? "" : " (\(application))")
    }

    /// All such sessions except this one, ordered by process ID.
    package static func all(
        _ connection: PostgresConnection,
        includesReaders: Bool = false
    ) async throws -> [OpenEdit] {
        try await connection.withSession { try all($0, includesReaders: includesReaders) }
    }

    /// All such sessions except this one, ordered by process ID.
    ///
    /// - Parameter includesReaders: Whether transactions count that have only read, for which a migration waits too.
    package static func all(_ session: PostgresSession, includesReaders: Bool = false) throws -> [OpenEdit] {
        let tables = PolicyTable.allCases.map(\.rawValue) + ["policy_revision"]
        return try session.query(
            """
            SELECT DISTINCT session.pid, session.usename::text, coalesce(session.application_name, ''),
                pg_has_role(session.usesysid, 'USAGE')
                OR pg_has_role('pg_signal_backend', 'USAGE')
                    AND NOT (SELECT rolsuper FROM pg_roles WHERE oid = session.usesysid)
            FROM pg_locks AS held JOIN pg_stat_activity AS session ON session.pid = held.pid
            WHERE held.locktype = 'relation' AND held.granted AND session.pid <> pg_backend_pid()
                AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND ($2 OR held.mode <> 'AccessShareLock') AND held.relation = ANY (
                    SELECT to_regclass('public.' || name)::oid FROM unnest($1::text[]) AS name)
            ORDER BY session.pid
            """,
            [tables, includesReaders]
        ).map { row in
            OpenEdit(
                processID: try row.decode(0, as: Int32.self),
                role: try row.decode(1, as: String.self),
                application: try row.decode(2, as: String.self),
                mayBeEnded: try row.decode(3, as: Bool.self)
            )
        }
    }
}
