// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// The checks of one version of an app on one platform in one day.
public struct PeriodCount: Sendable {
    /// When the day begins, in UTC.
    public let start: Timestamp
    /// The platform; nil: not sent.
    public let platform: String?
    /// The version as clients sent it; nil: not sent.
    public let version: String?
    /// How many checks.
    public let checks: Int64
    /// Those that were answered with a message.
    public let messages: Int64
    /// Those that were answered with a lockout.
    public let lockouts: Int64
}
