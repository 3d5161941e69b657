// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Testing
import UpdatePolicy

/// A small policy and what some clients get from it: the contract by example.
struct SemanticCase: Sendable, CustomTestStringConvertible {
    /// A check and what comes of it.
    struct Ask: Sendable {
        var check: Check
        /// The keys of the messages in order, with `!` behind those that lock out.
        var sent: String
        var titles: [String]?
        var links: [String?]?
        /// What is explained of some rules: their outcome, or the condition that failed.
        var explained: [String: String] = [:]
        var timeZone = "UTC"
        /// False where `jsonb` shows a member in other characters than the client.
        var comparesExplanations = true
    }

    let testDescription: String
    let policy: Policy
    let asks: [Ask]

    /// Noon, about which all cases are written.
    static let noon = Timestamp(secondsSince1970: 1_772_366_400)
    static let bundle = "com.example.doto"

    init(
        _ row: Int,
        _ name: String,
        _ rules: [Rule],
        releases: [Release] = [],
        app: App = App(bundle: bundle),
        _ asks: [Ask]
    ) {
        testDescription = "\(row): \(name)"
        self.asks = asks
        policy = Policy(revision: 0, token: "", apps: [app], releases: releases, rules: rules)
    }
}

extension SemanticCase {
    /// A rule of the app, its key as title and text.
    static func rule(_ key: String, _ change: (inout Rule) -> Void = { _ in }) -> Rule {
        var rule = Rule(key: key, bundle: bundle, title: key, text: key)
        change(&rule)
        return rule
    }

    /// A release of the app on iOS that has been live since the day before noon.
    static func release(_ version: String, _ change: (inout Release) -> Void = { _ in }) -> Release {
        var release = Release(
            id: 0,
            bundle: bundle,
            platform: "ios",
            version: version,
            liveAt: noon.advanced(byMicroseconds: -86_400_000_000)
        )
        change(&release)
        return release
    }

    /// A check of the app with further members, so many seconds and microseconds after noon.
    static func ask(
        _ members: KeyValuePairs<String, MemberLiteral>,
        seconds: Int64 = 0,
        microseconds: Int64 = 0,
        _ sent: String,
        titles: [String]? = nil,
        links: [String?]? = nil,
        explained: [String: String] = [:]
    ) -> Ask {
        var client = ClientDescription(members)
        if !client.members.contains(where: { $0.name == "bundle" }) { client.append("bundle", .text(bundle)) }
        let time = noon.advanced(byMicroseconds: seconds * 1_000_000 + microseconds)
        return Ask(
            check: Check(client: client, time: time),
            sent: sent,
            titles: titles,
            links: links,
            explained: explained
        )
    }
}
