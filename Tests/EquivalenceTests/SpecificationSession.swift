import PolicyStore
import Postgres
import TestPolicies
import UpdatePolicy

/// The executable specification in a database: writes policies into it and asks its functions.
struct SpecificationSession {
    let session: PostgresSession

    /// A policy that stands in the database until the body ends.
    struct Written {
        /// The rows that the database took, as they were offered to it.
        let accepted: Policy
        /// The policy as a server reads it.
        let read: Policy
        /// How many rows the database refused.
        let refusedRows: Int
    }

    /// Writes a policy, calls `body`, and takes everything back.
    ///
    /// Rows that the database refuses are left out, and what depends on them. Guards, which judge a commit, do not judge it.
    func withPolicy<Result>(
        _ policy: Policy,
        timeZone: String = "UTC",
        _ body: (Written) throws -> Result
    ) throws -> Result {
        try rollingBack(timeZone) {
            try session.execute("SET CONSTRAINTS ALL IMMEDIATE")
            return try body(write(policy))
        }
    }

    /// Writes a policy at once, calls `body`, and takes everything back; nil where the database refuses a row of it.
    func withWholePolicy<Result>(
        _ policy: Policy,
        timeZone: String,
        _ body: (Written) throws -> Result?
    ) throws -> Result? {
        try rollingBack(timeZone) {
            let script = PolicyScript(policy)
            let statements = ["SET CONSTRAINTS ALL IMMEDIATE", script.consent] + script.rows.map(\.statement)
            do throws(PostgresError) {
                try session.execute((statements + script.withdrawals).joined(separator: ";"))
            } catch {
                guard error.sqlState?.isIntegrityViolation == true else { throw error }
                return nil
            }
            return try body(Written(accepted: policy, read: try PolicyReader.policy(session), refusedRows: 0))
        }
    }

    private func rollingBack<Result>(_ timeZone: String, _ body: () throws -> Result) throws -> Result {
        try session.execute("BEGIN; SET LOCAL TimeZone = \(PolicyScript.text(timeZone))")
        let result = Swift.Result { try body() }
        try session.execute("ROLLBACK")
        return try result.get()
    }

    private func write(_ policy: Policy) throws -> Written {
        var accepted = Policy(revision: 0, token: "")
        var refusedRows = 0
        let script = PolicyScript(policy)
        try session.execute(script.consent)
        for (row, statement) in script.rows {
            do throws(PostgresError) {
                try session.execute("SAVEPOINT offered; \(statement); RELEASE offered")
            } catch {
                guard error.sqlState?.isIntegrityViolation == true else { throw error }
                try session.execute("ROLLBACK TO offered; RELEASE offered")
                refusedRows += 1
                continue
            }
            accepted.append(row)
        }
        for statement in PolicyScript(accepted).withdrawals { try session.execute(statement) }
        return Written(accepted: accepted, read: try PolicyReader.policy(session), refusedRows: refusedRows)
    }

    /// What the functions answer to each check.
    func answers(to checks: [Check]) throws -> [Answer] {
        var answers = [Answer](repeating: Answer(), count: checks.count)
        let parameter = "[\(checks.map(\.json).joined(separator: ", "))]"
        for row in try session.query(Self.messages, [parameter]) {
            answers[try row.decode(0, as: Int.self) - 1].messages.append(try Self.fields(row))
        }
        for row in try session.query(Self.explanations, [parameter]) {
            answers[try row.decode(0, as: Int.self) - 1].explanations.append(try Self.fields(row))
        }
        for (number, statuses) in try statuses(at: checks.map(\.time)).enumerated() {
            answers[number].statuses = statuses
        }
        return answers
    }

    /// What each rule is at each of some moments.
    func statuses(at moments: [Timestamp]) throws -> [[Answer.Row]] {
        var statuses: [String: [Answer.Row]] = [:]
        for row in try session.query(Self.statusesQuery, [moments.map(\.description)]) {
            statuses[try row.decode(0, as: String.self), default: []].append(try Self.fields(row))
        }
        return moments.map { statuses[$0.description] ?? [] }
    }

    private static let statusesQuery = """
        SELECT versiongate_internal.time_text(status.at), status.key, status.status,
               versiongate_internal.time_text(status.since), versiongate_internal.time_text(status.next),
               status.rollout::text, translate(status.reason, '{}', '')
          FROM versiongate_internal.rule_status_at($1::text[]::timestamptz[]) WITH ORDINALITY
                   AS status(at, key, bundle, status, since, next, rollout, reason, place)
         ORDER BY status.place
        """

    private static let messages = """
        SELECT checks.number, answer.id, answer.title, answer.text, answer.link, answer.lockout::text,
               answer.until::text, answer.remind::text, answer.shows::text, answer.skip::text, answer.target
          FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS checks(item, number),
               LATERAL messages_for(checks.item -> 'client', (checks.item ->> 'at')::timestamptz)
                   WITH ORDINALITY AS answer(id, title, text, link, lockout, until, remind, shows, skip, target, place)
         ORDER BY checks.number, answer.place
        """

    private static let explanations = """
        SELECT checks.number, answer.position::text, answer.key, answer.outcome, answer.condition, answer.expected,
               answer.actual, answer.bucket::text, answer.rollout::text, answer.release
          FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS checks(item, number),
               LATERAL explain_check(checks.item -> 'client', (checks.item ->> 'at')::timestamptz) WITH ORDINALITY
                   AS answer(position, key, outcome, condition, expected, actual, bucket, rollout, release, place)
         ORDER BY checks.number, answer.place
        """

    private static func fields(_ row: PostgresRow) throws -> Answer.Row {
        try (1..<row.columns.count).map { try row.decode($0, as: String?.self).map { UTF8Text($0) } }
    }
}
