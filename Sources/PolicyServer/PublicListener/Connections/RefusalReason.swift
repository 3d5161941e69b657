// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Why a client of the public listener was not given what it asked for, or its connection was ended.
public enum RefusalReason: Int, Sendable, CaseIterable {
    /// There were as many connections as there may be, and none was idle.
    case connections
    /// The connection was the one that had been idle longest when a new one needed room.
    case evicted
    /// There were as many connections from one address as there may be.
    case connectionsPerAddress
    /// The TLS handshake failed.
    case handshake
    /// The request was not HTTP/1.1, or could be read in two ways.
    case malformedRequest
    /// The request line was too long (414).
    case requestLineBytes
    /// The header fields were too large or too many (431).
    case headerBytes
    /// The body was too large (413).
    case bodyBytes
    /// The handshake or the head took too long (408, if any of the head had come).
    case headerTimeout
    /// The body took too long (408).
    case bodyTimeout
    /// The connection was silent for too long between two requests.
    case idleTimeout
    /// The client left its responses unread for too long, or sent too much meanwhile.
    case unreadTimeout
    /// The address asked too often (429).
    case rateLimit

    /// A name for metrics, lower case with underscores.
    public var label: String {
        switch self {
        case .connections: "connections"
        case .evicted: "evicted"
        case .connectionsPerAddress: "connections_per_address"
        case .handshake: "handshake"
        case .malformedRequest: "malformed_request"
        case .requestLineBytes: "request_line_bytes"
        case .headerBytes: "header_bytes"
        case .bodyBytes: "body_bytes"
        case .headerTimeout: "header_timeout"
        case .bodyTimeout: "body_timeout"
        case .idleTimeout: "idle_timeout"
        case .unreadTimeout: "unread_timeout"
        case .rateLimit: "rate_limit"
        }
    }

    /// The reason that a status stands for, if it stands for one alone.
    init?(status: ProblemStatus) {
        switch status {
        case .contentTooLarge: self = .bodyBytes
        case .uriTooLong: self = .requestLineBytes
        case .headerFieldsTooLarge: self = .headerBytes
        case .tooManyRequests: self = .rateLimit
        default: return nil
        }
    }
}
