// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// What NOTIFY sent to a channel that this connection listens to.
public struct PostgresNotification: Sendable, Hashable {
    /// The channel.
    public var channel: String
    /// The payload; empty if there was none.
    public var payload: String
    /// The process of the server that sent it.
    public var processID: Int32
}
