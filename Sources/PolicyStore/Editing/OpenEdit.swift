package import Postgres
import UpdatePolicy

/// A session, or a prepared transaction, that has edited or locked rows of the policy and has not ended.
package struct OpenEdit: Sendable, Decodable {
    package let processID: Int32?
    package var prepared: String?
    package let role: String
    package let application: String
    package let mayBeEnded: Bool
    /// Whether it is committed, and waits for a standby to have it: to end it would show it before. False where that is hidden.
    package var waitsForStandby = false

    package var words: String {
        let what = processID.map { "process \($0)" } ?? "the prepared transaction \(prepared ?? "")"
        let state = waitsForStandby ? ", whose commit waits for a standby" : ""
        return "\(what) of \(role)" + (application.isEmpty ? "" : " (\(application))") + state
    }

    package var ending: String {
        processID.map { "SELECT pg_terminate_backend(\($0))" }
            ?? "ROLLBACK PREPARED '\((prepared ?? "").replacing("'", with: "''"))'"
    }

    /// Of others: sessions by process ID, then prepared transactions; also readers, for which a migration waits.
    package static func all(_ session: PostgresSession, includesReaders: Bool = false) throws -> [OpenEdit] {
        let tables = PolicyTable.allCases.map(\.rawValue) + ["policy_revision"]
        return try session.query(
            """
            SELECT DISTINCT held.pid AS process_id, prepared.gid::text AS prepared,
                coalesce(session.usename, prepared.owner, session.usesysid::text)::text AS role,
                coalesce(session.application_name, '') AS application,
                coalesce(pg_has_role(session.usesysid, 'USAGE')
                    OR pg_has_role('pg_signal_backend', 'USAGE')
                        AND NOT (SELECT rolsuper FROM pg_roles WHERE oid = session.usesysid), false) AS may_be_ended,
                coalesce(session.wait_event = 'SyncRep', false) AS waits_for_standby
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
        ).rows()
    }
}
