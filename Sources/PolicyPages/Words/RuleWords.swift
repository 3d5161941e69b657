// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import PolicyStore
import UpdatePolicy

/// A rule in words.
struct RuleWords {
    /// One thing about a rule: what it is about, and what it says.
    struct Line {
        let term: String
        let text: String
    }

    let rule: Rule
    let status: RuleStatus
    let now: Timestamp

    /// All of it, in the order in which it matters.
    var lines: [Line] {
        [
            Line(term: "Status", text: statusSentence),
            Line(term: "Who", text: rule.who),
            ranges.isEmpty ? nil : Line(term: "Ranges", text: ranges.joined(separator: "; ")),
            Line(term: "Effect", text: effect), Line(term: "How many", text: share),
            rule.startsAt == nil && rule.endsAt == nil ? nil : Line(term: "When", text: period),
            rule.link.map {
                Line(
                    term: "Link",
                    text: $0 == MessageLink.store ? "the app's link to the store of the client's platform" : $0
                )
            },
            rule.hints.map { Line(term: "Shown", text: $0.sentence) },
            Line(
                term: "Order",
                text: "Position \(rule.position)." + (rule.final ? " When it is sent, no message comes after it." : "")
            ),
        ].compactMap(\.self)
    }

    private var statusSentence: String {
        let reason = status.reason.map { ": \(PageScene.words.sentence($0))" } ?? ""
        let next = status.next.map { " It changes at \(PageTime.text($0))." } ?? ""
        return "\(status.name.rawValue.prefix(1).uppercased())\(status.name.rawValue.dropFirst())\(reason).\(next)"
    }

    /// What the ranges mean.
    private var ranges: [String] {
        [("version", rule.versions), ("build", rule.builds), ("system", rule.os)].compactMap { name, text in
            text.flatMap { text in (try? VersionRange(text)).map { "\(name) \(text) is \($0.inWords)" } }
        }
    }

    private var effect: String {
        let soak = rule.soak.map { " that has been live for \($0)" } ?? ""
        let offer = rule.target.map { ", once they can get a release\(soak) that reaches \($0)" } ?? ""
        guard rule.lockout else { return "They get the message\(offer)." }
        return rule.lockoutWithoutUpdate
            ? "They are locked out\(offer), also where there is no update for them."
            : "They are locked out\(offer). Clients without an update to go to get the message, and are not locked out."
    }

    private var share: String {
        let present = status.rollout == .all ? "All of them" : "\(status.rollout) % of the installs"
        guard !rule.steps.isEmpty else { return "\(present)." }
        let coming = rule.steps.filter { $0.at > now }.map { "\($0.rollout) % from \(PageTime.text($0.at))" }
        return coming.isEmpty ? "\(present)." : "\(present) now, then \(coming.joined(separator: ", then "))."
    }

    private var period: String {
        let start = rule.startsAt.map { "From \(PageTime.text($0))" }
        let end = rule.endsAt.map { "\(start == nil ? "Until" : "until") \(PageTime.text($0))" }
        return [start, end].compactMap(\.self).joined(separator: " ") + "."
    }
}
