// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Why the private PostgreSQL cannot be used, and what to do about it.
public struct PrivatePostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        /// The programs of PostgreSQL, or `flock`, are not installed, or not in the version that is needed.
        case programsMissing
        /// The state folder cannot be used: not writable, not owned, not reachable.
        case folderUnusable
        /// PostgreSQL could not be initialised or started.
        case startFailed
        /// Something took longer than it ever should.
        case timeout
        /// The task was cancelled.
        case cancelled
    }

    /// The kind of failure.
    public var code: Code
    /// The fault in one or more lines, with the place where it is.
    public var message: String
    /// What to do about it.
    public var hint: String?

    init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// The fault, and what to do about it on a line of its own.
    public var description: String { message + (hint.map { "\n\($0)" } ?? "") }
}
