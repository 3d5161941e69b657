import Postgres
package import UpdatePolicy

extension PolicyReports {
    /// An app as lists show it.
    package struct AppSummary: Sendable {
        /// The bundle as the app spells it.
        package let bundle: String
        /// The name, if there is one.
        package let name: String?
        /// Whether the app is paused.
        package let paused: Bool
        /// How many rules are for this app alone.
        package let ruleCount: Int64
        /// The platforms that have a store link.
        package let linkedPlatforms: [String]
    }

    /// All apps by bundle.
    package func apps() throws -> [AppSummary] {
        try session.query(
            """
            SELECT app.bundle, app.name, app.paused,
                (SELECT count(*) FROM public.rules WHERE rules.bundle = app.bundle),
                ARRAY(SELECT platform FROM public.store_links AS link WHERE link.bundle = app.bundle ORDER BY platform)
            FROM public.apps AS app ORDER BY app.bundle
            """
        ).map { row in
            AppSummary(
                bundle: try row.decode(0, as: String.self), name: try row.decode(1, as: String?.self),
                paused: try row.decode(2, as: Bool.self), ruleCount: try row.decode(3, as: Int64.self),
                linkedPlatforms: try row.decode(4, as: [String].self)
            )
        }
    }

    /// All apps as a JSON array.
    package func appsJSON() throws -> String {
        try json(Self.appQuery + " ORDER BY app.bundle")
    }

    /// An app as it was written, and how many releases and rules it has; nil if there is none of this bundle.
    package func app(_ bundle: String) throws -> (app: App, releases: Int, rules: Int)? {
        let policy = try PolicyReader.editedPolicy(session, bundles: [bundle])
        return policy.apps.first.map { ($0, policy.releases.count, policy.rules.count { $0.bundle != nil }) }
    }

    /// An app with its store links as a JSON object, nil if there is none of this bundle.
    package func appJSON(_ bundle: String) throws -> String? {
        try object(Self.appQuery + " WHERE lower(app.bundle COLLATE \"C\") = lower($1 COLLATE \"C\")", [bundle])
    }

    private static let appQuery = """
        SELECT \(columns(of: App.self)),
            (SELECT coalesce(json_agg(json_build_object('platform', platform, 'link', link) ORDER BY platform), '[]')
             FROM public.store_links AS link WHERE link.bundle = app.bundle) AS store_links,
            (SELECT coalesce(
                json_agg(json_build_object('name', name, 'content_type', content_type) ORDER BY name), '[]')
             FROM public.feed_templates AS template WHERE template.bundle = app.bundle) AS feeds,
            (SELECT count(*) FROM public.releases WHERE releases.bundle = app.bundle) AS releases,
            (SELECT count(*) FROM public.rules WHERE rules.bundle = app.bundle) AS rules
        FROM public.apps AS app
        """
}
