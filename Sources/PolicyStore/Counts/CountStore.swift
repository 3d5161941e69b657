package import Postgres
import UpdatePolicy

package enum CountStore {
    package static func add(_ batch: CountBatch, _ session: PostgresSession) throws {
        try session.setTimeouts(statement: statementTimeout)
        let (checks, rules, merged, lockouts) = (batch.checks, batch.rules, batch.merged, batch.lockouts)
        let counted: [(any PostgresEncodable)?] = [
            checks.map(\.hour), checks.map { $0.kind?.bundle }, checks.map { $0.kind?.platform },
            checks.map { $0.kind?.version }, checks.map { $0.kind?.build }, checks.map { $0.kind?.region },
            checks.map { $0.kind?.os }, checks.map { Int64($0.checks) }, checks.map { Int64($0.messages) },
            checks.map { Int64($0.lockouts) },
            rules.map(\.hour), rules.map(\.rule), rules.map { Int64($0.sent) }, rules.map { Int64($0.lockouts) },
            merged.map(\.hour), merged.map(\.bundle), merged.map { Int64($0.checks) },
        ]
        try session.query(addition, counted)
        guard !lockouts.isEmpty else { return }
        let lockedOut: [(any PostgresEncodable)?] = [
            lockouts.map(\.minute), lockouts.map(\.rule), lockouts.map(\.bundle), lockouts.map(\.revision),
            lockouts.map { Int64($0.checks) }, lockouts.map { Int64($0.lockouts) },
        ]
        try session.query(CountedTable.lockouts.addition(ofParametersFrom: 1), lockedOut)
    }

    static let statementTimeout = "10s"

    private static let addition = """
        WITH checks AS (
            \(CountedTable.checks.addition(ofParametersFrom: 1))
        ), merged AS (
            \(CountedTable.merged.addition(ofParametersFrom: 15))
        )
        \(CountedTable.rules.addition(ofParametersFrom: 11))
        """

    package struct Blow: Sendable {
        package let rules: Int
        /// Empty if no fuse was to blow.
        package let transaction: String
    }

    /// Takes the lockout away from the rules whose fuse says so, in a transaction that does nothing else.
    package static func blowFuses(_ session: PostgresSession) throws -> Blow {
        try session.setTimeouts(statement: statementTimeout)
        let rules = Int(try session.query("SELECT public.blow_fuses()").value(as: Int32.self))
        let transaction = try session.query("SELECT coalesce(pg_current_xact_id_if_assigned()::text, '')")
        return Blow(rules: rules, transaction: try transaction.value())
    }

    /// Whether fuses have blown whose commit was not answered; nil while that is not decided.
    package static func isCommitted(_ blow: Blow, _ session: PostgresSession) throws -> Bool? {
        let status: String = try session.query(
            "SELECT coalesce(pg_xact_status($1::xid8), 'unknown')",
            [blow.transaction]
        ).value()
        return status == "in progress" ? nil : status == "committed"
    }
}

extension PostgresSession {
    package func setTimeouts(lock: String = "2s", statement: String) throws(PostgresError) {
        try query(
            "SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)",
            [lock, statement]
        )
    }
}
