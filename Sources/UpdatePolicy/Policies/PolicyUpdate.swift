// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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
