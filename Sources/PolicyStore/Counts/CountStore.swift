package import Postgres
import UpdatePolicy

/// Writes counts of checks, and keeps their tables small.
package enum CountStore {
    /// Adds a batch to what the database counts, in one statement, and one more for lockouts.
    ///
    /// - Throws: `PostgresError`; nothing is added then.
    package static func add(_ batch: CountBatch, _ session: PostgresSession) throws {
        try setTimeouts(session)
        _ = try session.query(addition, parameters(of: batch))
        try add(batch.lockouts, session)
    }

    static func setTimeouts(_ session: PostgresSession) throws {
        _ = try session.query(
            "SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)",
            [lockTimeout, statementTimeout]
        )
    }

    /// Sets timeouts for the next statements.
    package static func boundReading(_ session: PostgresSession) throws {
        _ = try session.query(
            "SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)",
            [lockTimeout, "30s"]
        )
    }

    /// How long a write waits for a lock before it gives up.
    static let lockTimeout = "2s"
    static let statementTimeout = "10s"

    private static let addition = """
        WITH checks AS (
            \(CountedTable.checks.addition(
                of: """
                unnest($1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                    $8::bigint[], $9::bigint[], $10::bigint[])
                    AS added (hour, bundle, platform, version, build, region, os, checks, messages, lockouts)
                """
            ))
        ), merged AS (
            \(CountedTable.merged.addition(
                of: "unnest($15::timestamptz[], $16::text[], $17::bigint[]) AS added (hour, bundle, checks)"
            ))
        )
        \(CountedTable.rules.addition(
            of: """
            unnest($11::timestamptz[], $12::text[], $13::bigint[], $14::bigint[]) AS added (hour, rule, sent, lockouts)
            """
        ))
        """

    private static func parameters(of batch: CountBatch) -> [(any PostgresEncodable)?] {
        [
            batch.checks.map(\.hour),
            batch.checks.map { $0.kind?.bundle },
            batch.checks.map { $0.kind?.platform },
            batch.checks.map { $0.kind?.version },
            batch.checks.map { $0.kind?.build },
            batch.checks.map { $0.kind?.region },
            batch.checks.map { $0.kind?.os },
            batch.checks.map { Int64($0.checks) },
            batch.checks.map { Int64($0.messages) },
            batch.checks.map { Int64($0.lockouts) },
            batch.rules.map(\.hour),
            batch.rules.map(\.rule),
            batch.rules.map { Int64($0.sent) },
            batch.rules.map { Int64($0.lockouts) },
            batch.merged.map(\.hour),
            batch.merged.map(\.bundle),
            batch.merged.map { Int64($0.checks) },
        ]
    }
}
