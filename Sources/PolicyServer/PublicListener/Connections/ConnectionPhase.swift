// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// What a connection is waiting for; each phase has a limit of its own.
enum ConnectionPhase: Int, CaseIterable {
    /// The end of a head that has begun, or the first one of the connection.
    case head
    /// The end of a body.
    case body
    /// The next request.
    case idle
    /// That the client reads what it asked for.
    case unread
    /// That the client closes a connection that the server has ended.
    case lingering
}
