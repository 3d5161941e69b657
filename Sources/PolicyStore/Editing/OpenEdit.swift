package import Postgres
import UpdatePolicy

/// A session that has edited the policy, or locked rows of it, and has neither committed nor rolled back; or a prepared
/// transaction that has.
package struct OpenEdit: Sendable {
    /// The process ID of the server process; nil of a prepared transaction.
    package let processID: Int32?
    /// The name of a prepared transaction, which needs no session.
    package var prepared: String?
    /// The role that logged in.
    package let role: String
    /// The program, as it named itself; may be empty.
    package let application: String
    /// Whether whoever asks may end the session.
    package let mayBeEnded: Bool

    /// A session with these facts.
    package init(
        processID: Int32?,
        prepared: String? = nil,
        role: String,
        application: String,
        mayBeEnded: Bool
    ) {
        self.processID = processID
        self.prepared = prepared
        self.role = role
        self.application = application
        self.mayBeEnded = mayBeEnded
    }

    /// The session, for people: `process 7316 of anna (psql)`.
    package var words: String {
        let what = processID.map { "process \($0)" } ?? "the prepared transaction \(prepared ?? "")"
        return "\(what) of \(role)" + (application.isEmpty ? "" : " (\(application))")
    }

    /// The statement that ends it.
    package var ending: String {
        processID.map { "SELECT pg_terminate_backend(\($0))" }
            ?? "ROLLBACK PREPARED '\((prepared ?? "").replacing("'", with: "''"))'"
    }

    /// All such sessions except this one, ordered by process ID, then all such prepared transactions.
    package static func all(
        _ connection: PostgresConnection,
        includesReaders: Bool = false
    ) async throws -> [OpenEdit] {
        try await connection.withSession { try all($0, includesReaders: includesReaders) }
    }

    /// All such sessions except this one, ordered by process ID, then all such prepared transactions.
    ///
    /// - Parameter includesReaders: Whether transactions count that have only read, for which a migration waits too.
    package static func all(_ session: PostgresSession, includesReaders: Bool = false) throws -> [OpenEdit] {
        let tables = PolicyTable.allCases.map(\.rawValue) + ["policy_revision"]
        return try session.query(
            """
            SELECT DISTINCT held.pid, prepared.gid::text,
                coalesce(session.usename, prepared.owner, session.usesysid::text)::text,
                coalesce(session.application_name, ''),
                coalesce(pg_has_role(session.usesysid, 'USAGE')
                    OR pg_has_role('pg_signal_backend', 'USAGE')
                        AND NOT (SELECT rolsuper FROM pg_roles WHERE oid = session.usesysid), false)
            FROM pg_locks AS held
            LEFT JOIN pg_stat_activity AS session ON session.pid = held.pid
            LEFT JOIN pg_locks AS own ON held.pid IS NULL AND own.pid IS NULL
                AND own.virtualtransaction = held.virtualtransaction AND own.locktype = 'transactionid'
            LEFT JOIN pg_prepared_xacts AS prepared ON prepared.transaction = own.transactionid
            WHERE held.locktype = 'relation' AND held.granted AND held.pid IS DISTINCT FROM pg_backend_pid()
                AND (session.usesysid IS NOT NULL OR prepared.gid IS NOT NULL)
                AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND ($2 OR held.mode <> 'AccessShareLock') AND held.relation = ANY (
                    SELECT to_regclass('public.' || name)::oid FROM unnest($1::text[]) AS name)
            ORDER BY held.pid, 2
            """,
            [tables, includesReaders]
        ).map { row in
            OpenEdit(
                processID: try row.decode(0, as: Int32?.self), prepared: try row.decode(1, as: String?.self),
                role: try row.decode(2, as: String.self), application: try row.decode(3, as: String.self),
                mayBeEnded: try row.decode(4, as: Bool.self)
            )
        }
    }
}
