// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A rule's message in another language.
public struct RuleText: Sendable, Equatable {
    /// The language, a BCP 47 tag.
    public var language: String

    /// The message's title.
    public var title: String

    /// The message's text.
    public var text: String

    /// A message in a language.
    public init(language: String, title: String, text: String) {
        self.language = language
        self.title = title
        self.text = text
    }
}
