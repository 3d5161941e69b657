// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// All apps, releases and rules as they stand at one revision.
public struct Policy: Sendable, Equatable {
    /// The number of the last change that is in it.
    public var revision: Int64

    /// A text that differs whenever the policy does, also between databases that count the same revisions.
    public var token: String

    /// The apps, in any order.
    public var apps: [App]

    /// The releases of all apps, in any order.
    public var releases: [Release]

    /// The rules of all apps, in any order; compiled fastest in the order of position and key.
    public var rules: [Rule]

    /// A policy of these rows.
    public init(revision: Int64, token: String, apps: [App] = [], releases: [Release] = [], rules: [Rule] = []) {
        self.revision = revision
        self.token = token
        self.apps = apps
        self.releases = releases
        self.rules = rules
    }
}

/// What a policy has in place of an earlier one, app by app.
public struct PolicyUpdate: Sendable, Equatable {
    /// The apps that differ, as the policy spells them, also those that are gone.
    public var bundles: [String]

    /// Whether the rules for every app differ.
    public var includesRulesForEveryApp: Bool

    /// The new revision, and all rows of what differs.
    public var policy: Policy

    /// An update of these apps.
    public init(bundles: [String], includesRulesForEveryApp: Bool, policy: Policy) {
        self.bundles = bundles
        self.includesRulesForEveryApp = includesRulesForEveryApp
        self.policy = policy
    }
}
