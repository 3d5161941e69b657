// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import Testing
import UpdatePolicy

@testable import PolicyServer

/// A policy whose answers are easy to tell, and clients for it.
enum CountedPolicy {
    /// 12 o'clock of a day, in UTC.
    static let noon = Timestamp(secondsSince1970: 1_772_366_400)

    static func hours(_ hours: Int64) -> Timestamp {
        noon.advanced(byMicroseconds: hours * 3_600_000_000)
    }

    /// One app, `doto`: below 1.2 it is told of an update, below 1.1 it is locked out. Another bundle, which no app has,
    /// gets a message of its own.
    static func policy(withRulesBefore earlier: [String] = []) throws -> CompiledPolicy {
        var rules = earlier.map { Rule(key: $0, bundle: "doto", title: $0, text: "Text") }
        for place in rules.indices { rules[place].position = -1 }
        rules.append(Rule(key: "update", bundle: "doto", versions: "<1.2", title: "Update", text: "Text"))
        var old = Rule(key: "old", bundle: "doto", versions: "<1.1", title: "Too old", text: "Text")
        old.lockout = true
        old.lockoutWithoutUpdate = true
        rules.append(old)
        rules.append(Rule(key: "unlisted", bundle: "unlisted", title: "Hello", text: "Text"))
        return try CompiledPolicy(
            Policy(
                revision: 1,
                token: "token",
                apps: [App(bundle: "doto", name: "Doto"), App(bundle: "other")],
                releases: [Release(id: 1, bundle: "doto", platform: "ios", version: "3.0")],
                rules: rules
            )
        )
    }

    static func client(_ members: [String: String]) throws -> Client {
        var client = Client()
        for (name, value) in members { try client.set(UTF8Text(name), to: .text(UTF8Text(value))) }
        if client.bundle == nil { try client.set("bundle", to: "doto") }
        return client
    }

    static func randomClient(using generator: inout some RandomNumberGenerator) throws -> Client {
        var members: [String: String] = [:]
        func pick(_ name: String, _ values: [String]) {
            if let value = values.randomElement(using: &generator), value != "" { members[name] = value }
        }
        pick("bundle", ["doto", "DoTo", "unlisted", "unknown"])
        pick(
            "version",
            ["", "1.0", "1.1", "1.10", "1.2", "01.2", "newest", "1.\(Int.random(in: 0..<90, using: &generator))"]
        )
        pick("build", ["", "1", "2", "x"])
        pick("platform", ["", "ios", "iOS", "iPadOS", "android", "my phone"])
        pick("region", ["", "DE", "de_DE", "ja-JP", "English"])
        pick("os", ["", "17", "17.0", "18 beta"])
        pick("install", ["", "install-\(Int.random(in: 0..<1_000, using: &generator))"])
        pick("channel", ["", "beta"])
        return try client(members)
    }
}

extension Client {
    fileprivate mutating func set(_ name: UTF8Text, to text: UTF8Text) throws {
        try set(name, to: .text(text))
    }
}

extension CheckRecorder {
    /// Answers a check and counts it, as the handler of a connection does.
    func answer(_ policy: CompiledPolicy, _ client: Client, at time: Timestamp = CountedPolicy.noon) throws {
        var bytes: [UInt8] = []
        let summary = policy.writeAnswer(for: client, at: time, shape: .standard, into: &bytes)
        record(client, summary, policy, at: time)
    }
}

/// What was counted, as plain dictionaries: the naive form of the recorder, and of what it hands over.
struct Counted {
    /// Checks, messages and lockouts by `HOUR BUNDLE PLATFORM VERSION BUILD REGION OS`, or `HOUR other`.
    var kinds: [String: [Int]] = [:]
    /// Messages and lockouts by `HOUR KEY`.
    var rules: [String: [Int]] = [:]
    /// Checks of kinds that are not kept apart, by `HOUR BUNDLE`.
    var merged: [String: Int] = [:]

    init() {}

    /// Takes over what a recorder counted.
    init(_ recorder: CheckRecorder, at time: Timestamp) {
        add(recorder, at: time)
    }

    mutating func add(_ recorder: CheckRecorder, at time: Timestamp) {
        recorder.drain(at: time) { piece in
            let hour = piece.hour - HourOfCounts.hour(of: CountedPolicy.noon) + 12
            for (kind, counts) in piece.kinds.map({ (ClientKind(bytes: $0), $1) }) {
                let members = [kind.bundle, kind.platform, kind.version, kind.build, kind.region, kind.os]
                let name = members.map { $0 ?? "-" }.joined(separator: " ")
                add([counts.checks, counts.messages, counts.lockouts], to: "\(hour) \(name)", in: \.kinds)
            }
            let others = piece.others
            if others != .zero {
                add([others.checks, others.messages, others.lockouts], to: "\(hour) other", in: \.kinds)
            }
            for (bundle, checks) in piece.merged.map({ (String(decoding: $0, as: UTF8.self), $1) }) {
                merged["\(hour) \(bundle)", default: 0] += checks
            }
            for (key, counts) in piece.rules.map({ (String(decoding: $0, as: UTF8.self), $1) }) {
                add([counts.sent, counts.lockouts], to: "\(hour) \(key)", in: \.rules)
            }
        }
    }

    /// Counts a check in the plainest way.
    mutating func add(_ client: Client, _ messages: [Message], at time: Timestamp) {
        let hour = (time.microsecondsSince1970 - CountedPolicy.noon.microsecondsSince1970) / 3_600_000_000 + 12
        var name = "other"
        if client.bundle?.string.lowercased() == "doto" {
            let platform = client.platform.map(\.name).flatMap { $0 == "my phone" ? nil : $0 }
            let members = [
                "doto", platform, client.versionText?.string, client.build?.text, client.region?.code, client.os?.text,
            ]
            name = members.map { $0 ?? "-" }.joined(separator: " ")
        }
        let isLockedOut = messages.contains(where: \.lockout)
        add([1, messages.isEmpty ? 0 : 1, isLockedOut ? 1 : 0], to: "\(hour) \(name)", in: \.kinds)
        for message in messages {
            add([1, message.lockout ? 1 : 0], to: "\(hour) \(message.id)", in: \.rules)
        }
    }

    private mutating func add(_ numbers: [Int], to name: String, in table: WritableKeyPath<Counted, [String: [Int]]>) {
        let before = self[keyPath: table][name] ?? numbers.map { _ in 0 }
        self[keyPath: table][name] = zip(before, numbers).map { $0 + $1 }
    }
}
