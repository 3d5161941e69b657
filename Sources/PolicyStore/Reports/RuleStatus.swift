package import Postgres
package import UpdatePolicy

/// What is so about a rule now. The view `rule_status` decides it, and nobody else.
package struct RuleStatus: Sendable, Equatable, Decodable {
    package enum Name: String, Sendable, CaseIterable, Decodable, PostgresDecodable {
        case disabled
        case ended
        case paused
        case scheduled
        /// No release reaches its target yet, or its rollout is at 0 %.
        case waiting
        /// A rule before it is final and sent to everybody whom it reaches.
        case hidden
        /// Nobody whom it reaches has a way out, so it locks out nobody.
        case onWithoutLockout = "on without lockout"
        /// On some of its platforms, or in some of its regions, nobody has a way out.
        case partlyWithoutLockout = "partly without lockout"
        case on
        package var isSent: Bool { self == .on || self == .onWithoutLockout || self == .partlyWithoutLockout }
    }

    package let name: Name
    /// Since when by the clock it is what it is; nil where nothing has changed it but an edit.
    package let since: Timestamp?
    /// When the clock changes what it is, or its rollout while it is sent; nil: it stays.
    package let next: Timestamp?
    /// Why it is not plainly on: a clause such as `2.5 on ios is staged`; nil where the name says it all.
    package let reason: Sentence?

    package func locksOut(_ rule: Rule) -> Bool { rule.lockout && (name == .on || name == .partlyWithoutLockout) }

    package static func all(_ session: PostgresSession, keys: [String]) throws -> [String: RuleStatus] {
        try session.query(
            """
            SELECT key, status AS name, since, next, reason
            FROM versiongate_internal.rule_status_at(ARRAY[now()], $1::text[])
            """,
            [keys]
        ).rows(by: "key")
    }

    package struct Totals: Sendable {
        package struct Kind: Sendable, Hashable, Decodable {
            package let status: String
            package let isLockout: Bool
            package init(_ name: Name, isLockout: Bool) { (status, self.isLockout) = (name.rawValue, isLockout) }
        }

        package let token: String?
        package let next: Timestamp?
        package let rules: [Kind: Int64]

        package init(_ session: PostgresSession) throws {
            let rows = try session.query(
                """
                SELECT status, lockout AS is_lockout, count(*), min(next) AS next,
                    (SELECT token::text FROM public.policy_revision) AS token
                FROM public.rule_status JOIN public.rules USING (key) GROUP BY status, lockout
                """
            )
            token = try rows.first?.decode("token", as: String.self)
            next = try rows.compactMap { try $0.decode("next", as: Timestamp?.self) }.min()
            rules = Dictionary(uniqueKeysWithValues: zip(try rows.rows(), try rows.map { try $0.decode("count") }))
        }
    }
}
