// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Clients of one kind, as far as checks are counted by kind, and how many checks they made.
public struct WeightedClient: Sendable {
    /// The members they sent, without language, attributes and install, which are not counted.
    public let client: Client

    /// How many checks they made; not negative.
    public let checks: Int64

    /// Clients of one kind with their checks.
    public init(_ client: Client, checks: Int64) {
        self.client = client
        self.checks = checks
    }
}
