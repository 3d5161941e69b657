// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A table of the policy that people edit.
public enum PolicyTable: String, Sendable, CaseIterable {
    /// The apps, by bundle.
    case apps
    /// Where the stores have an app, by platform.
    case storeLinks = "store_links"
    /// The versions that users can get.
    case releases
    /// The rules, by key.
    case rules
    /// The texts of rules in other languages.
    case ruleTexts = "rule_texts"
    /// The planned percentages of a rule.
    case rolloutSteps = "rollout_steps"
}
