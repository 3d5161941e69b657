package import Postgres
import UpdatePolicy

extension CountStore {
    /// Fuses that a transaction has blown, if it is committed.
    package struct Blow: Sendable {
        package let rules: Int
        /// Its transaction; empty if no fuse was to blow.
        package let transaction: String
    }

    /// Takes the lockout away from the rules whose fuse says so.
    ///
    /// - Parameter session: A transaction that does nothing else.
    package static func blowFuses(_ session: PostgresSession) throws -> Blow {
        try setTimeouts(session)
        let rules = Int(try session.query("SELECT public.blow_fuses()").value(as: Int32.self))
        let transaction = try session.query("SELECT coalesce(pg_current_xact_id_if_assigned()::text, '')")
        return Blow(rules: rules, transaction: try transaction.value(as: String.self))
    }

    /// Whether fuses have blown whose commit was not answered; `nil` while that is not decided.
    ///
    /// - Throws: `PostgresError`; of the server, where it does not know the transaction.
    package static func isCommitted(_ blow: Blow, _ session: PostgresSession) throws -> Bool? {
        let status = try session.query("SELECT coalesce(pg_xact_status($1::xid8), 'unknown')", [blow.transaction])
            .value(as: String.self)
        return status == "in progress" ? nil : status == "committed"
    }

    static func add(_ lockouts: [LockoutCount], _ session: PostgresSession) throws {
        guard !lockouts.isEmpty else { return }
        _ = try session.query(
            CountedTable.lockouts.addition(
                of: """
                    unnest($1::text[], $2::text[], $3::timestamptz[], $4::bigint[], $5::bigint[], $6::bigint[])
                        AS added (rule, bundle, minute, checks, lockouts, revision)
                    """
            ),
            [
                lockouts.map(\.rule),
                lockouts.map(\.bundle),
                lockouts.map(\.minute),
                lockouts.map { Int64($0.checks) },
                lockouts.map { Int64($0.lockouts) },
                lockouts.map(\.revision),
            ]
        )
    }

    /// Deletes counts of lockouts that are more than a day old, or lie more than a day ahead.
    static func deleteOldLockoutCounts(at now: Timestamp, _ session: PostgresSession) throws -> Int {
        try session.query(
            """
            WITH deleted AS (
                DELETE FROM public.lockout_counts WHERE ctid = ANY (
                    ARRAY(
                        SELECT ctid FROM public.lockout_counts
                        WHERE minute < $1 - interval '1 day' OR minute > $1 + interval '1 day'
                        ORDER BY minute LIMIT $2
                    )
                ) RETURNING minute
            )
            SELECT count(*) FROM deleted
            """,
            [now, Int64(rowsPerStep)]
        ).value(as: Int.self)
    }
}
