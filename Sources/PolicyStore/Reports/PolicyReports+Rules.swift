// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
public import UpdatePolicy

extension PolicyReports {
    /// A rule with what belongs to it.
    public struct RuleRecord: Sendable {
        /// The JSON object.
        public let json: String
        /// The fields in the order of the columns.
        public let fields: [RecordField]
        /// The planned steps, in order of time.
        public let steps: [RolloutStep]
    }

    /// The rules in the order of their messages, with what is so about each now.
    ///
    /// - Parameters:
    ///   - bundle: Only the rules of this app and those for every app; nil for all.
    ///   - search: Only rules with this in their key, message, note or translations; case does not count; nil for all.
    public func rules(
        bundle: String?,
        search: String? = nil,
        at time: Timestamp
    ) throws -> [(rule: Rule, status: RuleStatus)] {
        let found = try search.map { Set(try keys(with: $0)) }
        let policy = try PolicyReader.policy(session, bundles: bundle.map { [$0] })
        let statuses = policy.ruleStatuses(at: time)
        return policy.rules.sorted(by: Rule.precedes).compactMap { rule in
            guard found?.contains(rule.key) ?? true else { return nil }
            return statuses[rule.key].map { (rule, $0) }
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

    private static let ruleQuery = """
        SELECT \(columns(of: Rule.self)),
            (SELECT coalesce(json_agg(json_build_object('language', language, 'title', t.title, 'text', t.text)
                ORDER BY language), '[]') FROM public.rule_texts AS t WHERE t.rule = key) AS texts,
            (SELECT coalesce(json_agg(json_build_object('at', at, 'rollout', s.rollout) ORDER BY at), '[]')
             FROM public.rollout_steps AS s WHERE s.rule = key) AS rollout_steps
        FROM public.rules
        """
}
