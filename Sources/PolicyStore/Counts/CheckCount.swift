// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// How many checks one kind of client made in an hour.
public struct CheckCount: Sendable, Hashable {
    /// The start of the hour.
    public var hour: Timestamp
    /// The kind of client; nil for apps that the policy does not list and for kinds that are not kept apart.
    public var kind: ClientKind?
    /// How many checks were answered.
    public var checks: Int
    /// Those that were answered with a message, or with several.
    public var messages: Int
    /// Those that were answered with a lockout.
    public var lockouts: Int

    /// Creates a count.
    public init(hour: Timestamp, kind: ClientKind?, checks: Int, messages: Int, lockouts: Int) {
        self.hour = hour
        self.kind = kind
        self.checks = checks
        self.messages = messages
        self.lockouts = lockouts
    }
}
