// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// The checks that servers counted in the last days. What clients say of themselves is not verified.
public struct RecentChecks: Sendable {
    /// How many days were looked at.
    public let days: Int

    /// The kinds of clients that checked.
    public let clients: [WeightedClient]

    /// Checks of which nothing is known: of apps that are not in the policy, and of kinds of clients beyond what servers
    /// keep apart.
    public let unknown: Int64

    /// How many checks there were of known kinds of clients.
    public var known: Int64 { clients.reduce(0) { $0 + $1.checks } }

    /// Whether there are none of which anything is known.
    public var isEmpty: Bool { clients.isEmpty }
}
