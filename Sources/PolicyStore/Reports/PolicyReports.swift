package import Postgres
package import UpdatePolicy

/// Reads the policy for people and scripts: lists, single records, the history. JSON is made by PostgreSQL, in a
/// transaction whose time zone is UTC, so that every value is shown as it is kept.
package struct PolicyReports {
    package let session: PostgresSession

    package init(_ session: PostgresSession) throws {
        self.session = session
        try session.execute(
            "SET LOCAL TimeZone = 'UTC'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL DateStyle = 'ISO'"
        )
    }

    private func written(_ bundle: String?) throws -> Policy {
        try PolicyReader.policy(session, bundles: bundle.map { [$0] }, detail: .edited)
    }

    package func apps(bundle: String? = nil) throws -> [AppSummary] {
        let policy = try written(bundle)
        let releases = Dictionary(grouping: policy.releases, by: \.bundle)
        let rules = Dictionary(grouping: policy.rules, by: \.bundle)
        return policy.apps.map { app in
            AppSummary(
                app: app, releases: Int64(releases[app.bundle]?.count ?? 0), rules: Int64(rules[app.bundle]?.count ?? 0)
            )
        }
    }

    /// The releases of an app, or of all, by app and platform, the greatest version first.
    package func releases(bundle: String?) throws -> [Release] {
        try written(bundle).releases.enumerated().sorted { left, right in
            let (release, other) = (left.element, right.element)
            // They are read by app and platform.
            guard release.bundle == other.bundle, release.platform == other.platform else {
                return left.offset < right.offset
            }
            if let isLess = release.isLess(than: other) { return !isLess }
            return release.id < other.id
        }.map(\.element)
    }

    /// The rules as they were written, in the order of their messages, with what is so about each now: those of an app and
    /// for every app, those that have a text in their key, message, note or translations, case aside.
    package func rules(bundle: String?, search: String? = nil) throws -> [(rule: Rule, status: RuleStatus)] {
        // In a database with the locale C the case of other letters than ASCII's would count.
        let wanted = search?.lowercased()
        let rules = try written(bundle).rules.filter { rule in
            wanted.map { wanted in rule.words.contains { $0.lowercased().contains(wanted) } } ?? true
        }
        return try withStatuses(rules.sorted(by: Rule.precedes))
    }

    package func rule(_ key: String) throws -> (rule: Rule, status: RuleStatus)? {
        guard let bundle = try PolicyReader.bundle(ofRule: key, session) else { return nil }
        return try withStatuses(written(bundle).rules.filter { $0.key == key }).first
    }

    private func withStatuses(_ rules: [Rule]) throws -> [(rule: Rule, status: RuleStatus)] {
        let statuses = try RuleStatus.all(session, keys: rules.map(\.key))
        return rules.compactMap { rule in statuses[rule.key].map { (rule, $0) } }
    }

    package var history: PolicyHistory {
        get throws { try PolicyHistory(session) }
    }

    package func historyObjects(_ filter: HistoryFilter) throws -> [String] {
        try session.query(
            """
            SELECT row_to_json(entry)::text FROM (
                SELECT change.id, change.at, change.role::text, change.os_user, change.tool, change.why, change.undoes,
                    (SELECT json_agg(json_build_object('table', table_name, 'key', key, 'before', before, 'after', after)
                        ORDER BY ordinal)
                     FROM public.change_rows AS row WHERE row.change = change.id) AS rows
                FROM public.changes AS change WHERE change.id IN (\(HistoryFilter.query)) ORDER BY change.id DESC
            ) AS entry
            """,
            filter.parameters
        ).values(as: String.self).map(\.visibleJSON)
    }
}

package struct AppSummary: Sendable {
    package let app: App
    package let releases: Int64
    package let rules: Int64
}

extension Rule {
    fileprivate var words: [String] {
        [key, title, text] + [note].compactMap(\.self) + texts.flatMap { [$0.title, $0.text] }
    }
}
