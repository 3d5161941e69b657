// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A condition on something that is not counted, so that its share of the checks is unknown.
///
/// Where one decides, a figure is an upper bound.
public enum UncountedCondition: String, Sendable, CaseIterable {
    /// The language of the client.
    case languages
    /// Attributes of the client.
    case attributes
    /// The install, by which a rollout below 100 % chooses: its percentage is taken of the checks, as if every client
    /// sent an install.
    case rollout
}

extension Rule {
    /// Those of its conditions that are not counted, but for the rollout, which changes with time.
    var uncountedConditions: Set<UncountedCondition> {
        var conditions: Set<UncountedCondition> = []
        if languages != nil { conditions.insert(.languages) }
        if attributes != nil { conditions.insert(.attributes) }
        return conditions
    }
}
