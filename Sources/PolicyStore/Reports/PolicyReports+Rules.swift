// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
public import UpdatePolicy

extension PolicyReports {
    /// A rule as lists show it.
    public struct RuleSummary: Sendable {
        /// The rule's key.
        public let key: String
        /// The app; nil is every app.
        public let bundle: String?
        /// `off`, `ended`, `waiting` (for its start, a release, its rollout or its app) or `on`.
        public let state: String
        /// The condition on the version.
        public let versions: String?
        /// The version it asks clients to reach.
        public let target: String?
        /// The platforms, joined by commas.
        public let platforms: String?
        /// The percentage in force now.
        public let rollout: String
        /// Whether it locks out: `no`, `yes` or `always` (without an update as well).
        public let lockout: String
        /// How often the message is shown, by columns that are not as they are by default: `remind 1 day, shows 3`.
        public let hints: String
        /// The message's title.
        public let title: String
    }

    /// A rule with what belongs to it.
    public struct RuleRecord: Sendable {
        /// The JSON object.
        public let json: String
        /// The fields in the order of the columns.
        public let fields: [RecordField]
        /// The planned steps, in order of time.
        public let steps: [RolloutStep]
    }

    /// The rules in the order of their messages.
    ///
    /// - Parameters:
    ///   - bundle: Only the rules of this app and those for every app; nil for all.
    ///   - search: Only rules with this in their key, message, note or translations; case does not count; nil for all.
    public func rules(bundle: String?, search: String? = nil) throws -> [RuleSummary] {
        try session.query(
            """
            SELECT key, bundle, \(Self.state), versions, target, array_to_string(platforms, ', '),
                trim_scale(rollout_at(key, now()))::text,
                CASE WHEN NOT lockout THEN 'no' WHEN lockout_without_update THEN 'always' ELSE 'yes' END,
                concat_ws(', ', 'remind ' || remind, 'shows ' || shows, CASE WHEN skippable THEN 'skippable' END), title
            FROM public.rules WHERE \(Self.isListed) ORDER BY position, key
            """,
            [bundle, try search.map(keys)]
        ).map { row in
            RuleSummary(
                key: try row.decode(0, as: String.self),
                bundle: try row.decode(1, as: String?.self),
                state: try row.decode(2, as: String.self),
                versions: try row.decode(3, as: String?.self),
                target: try row.decode(4, as: String?.self),
                platforms: try row.decode(5, as: String?.self),
                rollout: try row.decode(6, as: String.self),
                lockout: try row.decode(7, as: String.self),
                hints: try row.decode(8, as: String.self),
                title: try row.decode(9, as: String.self)
            )
        }
    }

    /// The rules as a JSON array, in the order of their messages.
    public func rulesJSON(bundle: String?, search: String? = nil) throws -> String {
        try json("\(Self.ruleQuery) WHERE \(Self.isListed) ORDER BY position, key", [bundle, try search.map(keys)])
    }

    /// The keys of the rules that have a text in their key, message, note or translations.
    ///
    /// It is compared here, because in a database with the locale C the case of other letters than ASCII's counts.
    private func keys(with text: String) throws -> [String] {
        let wanted = text.lowercased()
        return try session.query(
            """
            SELECT key, concat_ws(E'\n', key, title, text, note, (
                SELECT string_agg(concat_ws(E'\n', t.title, t.text), E'\n') FROM public.rule_texts AS t WHERE t.rule = key))
            FROM public.rules
            """
        ).filter { try $0.decode(1, as: String.self).lowercased().contains(wanted) }.map {
            try $0.decode(0, as: String.self)
        }
    }

    /// One rule with its texts and steps, nil if there is none of this key.
    public func rule(_ key: String) throws -> RuleRecord? {
        guard let record = try record("\(Self.ruleQuery) WHERE key = $1", [key]) else { return nil }
        let steps = try session.query(
            "SELECT at, (rollout * 100)::int4 FROM public.rollout_steps WHERE rule = $1 ORDER BY at",
            [key]
        ).map { row in
            RolloutStep(
                at: Timestamp(try row.decode(0, as: PostgresTimestamp.self)),
                rollout: try Percentage(row: row, column: 1)
            )
        }
        return RuleRecord(json: record.json, fields: record.fields, steps: steps)
    }

    private static let isListed = """
        ($1::text IS NULL OR bundle IS NULL OR lower(bundle COLLATE "C") = lower($1::text COLLATE "C"))
        AND ($2::text[] IS NULL OR key = ANY ($2))
        """

    private static let state = """
        CASE WHEN NOT enabled THEN 'off' WHEN ends_at <= now() THEN 'ended'
            WHEN rule_waits_for(rules, now()) IS NOT NULL THEN 'waiting' ELSE 'on' END
        """

    /// The columns in their order, and behind the target what a rule waits for.
    private static let columns = Rule.columns.map { column in
        switch column.name {
        case "target": "target, rule_waits_for(rules, now()) AS waits_for"
        case _ where column.type == .duration: "\(column.name)::text"
        default: column.name
        }
    }.joined(separator: ", ")

    private static let ruleQuery = """
        SELECT \(columns),
            (SELECT coalesce(json_agg(json_build_object('language', language, 'title', t.title, 'text', t.text)
                ORDER BY language), '[]') FROM public.rule_texts AS t WHERE t.rule = key) AS texts,
            (SELECT coalesce(json_agg(json_build_object('at', at, 'rollout', s.rollout) ORDER BY at), '[]')
             FROM public.rollout_steps AS s WHERE s.rule = key) AS rollout_steps
        FROM public.rules
        """
}
