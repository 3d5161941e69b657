// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Postgres

extension PolicyReader {
    /// The apps that a rule is for.
    public struct RuleScope: Sendable {
        /// The app; nil: every app.
        public let bundle: String?
    }

    /// The apps that a rule is for, nil if there is no such rule.
    public static func scope(ofRule key: String, _ session: PostgresSession) throws -> RuleScope? {
        try session.query("SELECT bundle FROM public.rules WHERE key = $1", [key]).first.map { row in
            RuleScope(bundle: try row.decode(0, as: String?.self))
        }
    }

    /// The keys of all rules in order.
    public static func ruleKeys(_ session: PostgresSession) throws -> [String] {
        try session.query("SELECT key FROM public.rules ORDER BY key").map { try $0.decode(0, as: String.self) }
    }
}
