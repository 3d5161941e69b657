// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// An app with its checks of the last 24 hours.
public struct AppRow: Sendable, Equatable {
    /// The app.
    public let bundle: String
    /// Its name, if it has one.
    public let name: String?
    /// Whether it is paused.
    public let paused: Bool
    /// How many checks.
    public let checks: Int64
    /// Those that were answered with a message.
    public let messages: Int64
    /// Those that were answered with a lockout.
    public let lockouts: Int64
}
