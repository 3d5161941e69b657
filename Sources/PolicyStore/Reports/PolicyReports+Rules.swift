import Postgres
package import UpdatePolicy

extension PolicyReports {
    /// The rules in the order of their messages, with what is so about each now.
    ///
    /// - Parameters:
    ///   - bundle: Only the rules of this app and those for every app; nil for all.
    ///   - search: Only rules with this in their key, message, note or translations; case does not count; nil for all.
    package func rules(bundle: String?, search: String? = nil) throws -> [(rule: Rule, status: RuleStatus)] {
        let found = try search.map { Set(try keys(with: $0)) }
        let rules = try PolicyReader.policy(session, bundles: bundle.map { [$0] }).rules
            .filter { found?.contains($0.key) ?? true }.sorted(by: Rule.precedes)
        let statuses = try RuleStatus.all(session, keys: rules.map(\.key))
        return rules.compactMap { rule in statuses[rule.key].map { (rule, $0) } }
    }

    /// The rules as a JSON array, in the order of their messages.
    package func rulesJSON(bundle: String?, search: String? = nil) throws -> String {
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

    /// A rule as it was written; nil if there is none of this key.
    package func rule(_ key: String) throws -> Rule? {
        guard let bundle = try PolicyReader.bundle(ofRule: key, session) else { return nil }
        let policy = try PolicyReader.editedPolicy(session, bundles: bundle.map { [$0] })
        return policy.rules.first { $0.key == key }
    }

    /// A rule with its texts and steps as a JSON object, nil if there is none of this key.
    package func ruleJSON(_ key: String) throws -> String? { try object("\(Self.ruleQuery) WHERE key = $1", [key]) }

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
