// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// A message as a phone would show it.
struct MessageView {
    let id: String
    let ruleAddress: String
    /// The language, for screen readers; empty: not known.
    let language: String
    /// What stands above the message: `as written`, `de`.
    let label: String
    let title: String
    let text: String
    /// The link as written; empty: none.
    let link: String
    /// The link for a browser; empty: it cannot follow it.
    let address: String
    let lockout: Bool
    let hints: String

    init(_ message: Message, label: String = "", language: String = "") {
        id = message.id
        ruleAddress = Address.rule(message.id)
        self.label = label
        self.language = language
        title = message.title
        text = message.text
        link = message.link ?? ""
        address = message.link.flatMap(Address.followed) ?? ""
        lockout = message.lockout
        hints = message.hints?.sentence ?? ""
    }
}
