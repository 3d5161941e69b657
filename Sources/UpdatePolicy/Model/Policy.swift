package struct Policy: Sendable, Equatable {
    package var revision: Int64

    /// A UUID that is new for every change, so that policies of two databases with the same revision differ.
    package var token: String

    package var apps: [App]
    package var releases: [Release]

    /// The rules of all apps, in any order; compiled fastest in the order of position and key.
    package var rules: [Rule]

    package init(revision: Int64, token: String, apps: [App] = [], releases: [Release] = [], rules: [Rule] = []) {
        (self.revision, self.token) = (revision, token)
        (self.apps, self.releases, self.rules) = (apps, releases, rules)
    }

    /// An app, its releases and its rules, without those for every app; case does not count.
    package func part(of bundle: String) -> Policy {
        let isOfApp = { (other: String) in UTF8Text(other).lowercasedASCII == UTF8Text(bundle).lowercasedASCII }
        return Policy(
            revision: revision, token: token, apps: apps.filter { isOfApp($0.bundle) },
            releases: releases.filter { isOfApp($0.bundle) }, rules: rules.filter { $0.bundle.map(isOfApp) ?? false }
        )
    }
}

/// The differences of a policy from an earlier one, app by app.
package struct PolicyUpdate: Sendable, Equatable {
    /// The apps that differ, as the policy spells them, including removed ones.
    package var bundles: [String]

    package var includesRulesForEveryApp: Bool

    /// The new revision, and all rows of what differs.
    package var policy: Policy

    package init(bundles: [String], includesRulesForEveryApp: Bool, policy: Policy) {
        (self.bundles, self.includesRulesForEveryApp) = (bundles, includesRulesForEveryApp)
        self.policy = policy
    }
}
