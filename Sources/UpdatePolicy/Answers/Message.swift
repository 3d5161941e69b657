// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A message for the user of a client.
public struct Message: Sendable, Equatable {
    /// The key of the rule it comes from.
    public let id: String

    /// The title, in the client's language where there is a translation.
    public let title: String

    /// The text, in the same language as the title.
    public let text: String

    /// The link to follow, if there is one.
    public let link: String?

    /// Whether the app is to be unusable until it is updated.
    public let lockout: Bool

    /// A message with these members.
    public init(id: String, title: String, text: String, link: String? = nil, lockout: Bool = false) {
        self.id = id
        self.title = title
        self.text = text
        self.link = link
        self.lockout = lockout
    }
}
