package import UpdatePolicy

/// An app as it was written, with how much belongs to it.
package struct AppSummary: Sendable {
    package let app: App
    package let releases: Int64
    /// How many rules are for this app alone.
    package let rules: Int64
}

extension PolicyReports {
    /// The apps by bundle.
    ///
    /// - Parameter bundle: Only this one; case does not count; nil for all.
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
}
