// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Who makes an edit and why, as far as only the program knows it.
public struct EditAuthor: Sendable {
    /// The name of the operating system's user.
    public var osUser: String?
    /// The reason given.
    public var why: String?

    /// Creates an author.
    public init(osUser: String?, why: String?) {
        self.osUser = osUser
        self.why = why
    }
}
