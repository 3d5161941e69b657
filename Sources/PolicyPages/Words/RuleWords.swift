// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import UpdatePolicy

/// A rule in words.
struct RuleWords {
    /// One thing about a rule: what it is about, and what it says.
    struct Line {
        let term: String
        let text: String
    }

    let rule: Rule
    /// Whether the app of the rule is paused.
    let isPaused: Bool
    let now: Timestamp

    /// Whom a rule is for, as briefly as a table needs it: `<2.1, on ios`.
    static func who(_ versions: String?, _ platforms: String?) -> String {
        let conditions = [versions, platforms.map { "on \($0)" }].compactMap(\.self)
        return conditions.isEmpty ? "everyone" : conditions.joined(separator: ", ")
    }

    /// Whether the rule reaches anybody now, in a word or two.
    var state: String {
        if !rule.enabled { return "off" }
        if isPaused { return "app paused" }
        if let end = rule.endsAt, end <= now { return "ended" }
        if let start = rule.startsAt, now < start { return "waiting" }
        return rollout == .zero ? "at 0 %" : "on"
    }

    /// Whether clients may be locked out by it now.
    var locksOut: Bool { rule.lockout && (state == "on") }

    /// The rollout in force now.
    var rollout: Percentage { rule.steps.last { $0.at <= now }?.rollout ?? rule.rollout }

    /// All of it, in the order in which it matters.
    var lines: [Line] {
        [
            Line(term: "State", text: stateSentence), Line(term: "Who", text: audience),
            Line(term: "Effect", text: effect), Line(term: "How many", text: share),
            rule.startsAt == nil && rule.endsAt == nil ? nil : Line(term: "When", text: period),
            rule.link.map {
                Line(
                    term: "Link",
                    text: $0 == MessageLink.store ? "the app's link to the store of the client's platform" : $0
                )
            },
            rule.remind == nil && rule.shows == nil && !rule.skippable
                ? nil
                : Line(
                    term: "Shown",
                    text: MessageHints(
                        remind: rule.remind.map { $0.inMicroseconds / 1_000_000 },
                        shows: rule.shows,
                        skip: rule.skippable,
                        target: rule.target
                    ).sentence
                ),
            Line(
                term: "Order",
                text: "Position \(rule.position)." + (rule.final ? " When it is sent, no message comes after it." : "")
            ),
        ].compactMap(\.self)
    }

    private var stateSentence: String {
        switch state {
        case "off": "Off: it reaches nobody until it is enabled."
        case "app paused": "The app is paused: no message reaches it."
        case "ended": "It ended, and reaches nobody."
        case "waiting": "It waits for its start."
        case "at 0 %": "On, and at 0 %: it reaches nobody."
        default: "On."
        }
    }

    private var audience: String {
        var parts: [String] = []
        if let platforms = rule.platforms {
            parts.append("on \(platforms.map { Platform($0).displayName }.joined(separator: " or "))")
        }
        if let versions = rule.versions { parts.append("with version \(range(versions))") }
        if let target = rule.target { parts.append("below version \(target)") }
        if let builds = rule.builds { parts.append("with build \(range(builds))") }
        if let os = rule.os { parts.append("with operating system \(range(os))") }
        if let regions = rule.regions { parts.append("in \(regions.joined(separator: ", "))") }
        if let languages = rule.languages { parts.append("in the language \(languages.joined(separator: " or "))") }
        for attribute in rule.attributes ?? [] {
            parts.append("whose \(attribute.name) is \(attribute.values.joined(separator: " or "))")
        }
        let app = rule.bundle ?? "every app"
        return parts.isEmpty ? "Every client of \(app)." : "Clients of \(app) \(parts.joined(separator: ", "))."
    }

    /// A range, and what it means.
    private func range(_ text: String) -> String {
        (try? VersionRange(text)).map { "\(text) (\($0.inWords))" } ?? text
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
        let present = rollout == .all ? "All of them" : "\(rollout) % of the installs"
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
