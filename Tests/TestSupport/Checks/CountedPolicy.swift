package import CheckListener
package import UpdatePolicy

/// A policy whose answers are easy to tell, and clients for it.
package enum CountedPolicy {
    /// 12 o'clock of a day, in UTC.
    package static let noon = Timestamp(secondsSince1970: 1_772_366_400)

    package static func hours(_ hours: Int64) -> Timestamp { noon.advanced(byMicroseconds: hours * 3_600_000_000) }

    /// One app, `doto`: below 1.2 it is told of an update, below 1.1 it is locked out. Another bundle, which no app has,
    /// gets a message of its own.
    package static func policy(withRulesBefore earlier: [String] = []) throws -> CompiledPolicy {
        var rules = earlier.map {
            Rule(key: $0, title: $0, text: "Text") {
                $0.bundle = "doto"
            }
        }
        for place in rules.indices { rules[place].position = -1 }
        rules.append(
            Rule(key: "update", title: "Update", text: "Text") {
                $0.bundle = "doto"
                $0.versions = "<1.2"
            })
        var old = Rule(key: "old", title: "Too old", text: "Text") {
            $0.bundle = "doto"
            $0.versions = "<1.1"
        }
        old.lockout = true
        old.lockoutWithoutUpdate = true
        rules.append(old)
        rules.append(
            Rule(key: "unlisted", title: "Hello", text: "Text") {
                $0.bundle = "unlisted"
            })
        return try CompiledPolicy(
            Policy(
                revision: 1, token: "token", apps: [App(bundle: "doto", name: "Doto"), App(bundle: "other")],
                releases: [Release(id: 1, bundle: "doto", platform: "ios", version: "3.0")], rules: rules
            )
        )
    }

    package static func client(_ members: [String: String]) throws -> Client {
        var client = Client()
        for (name, value) in members { try client.set(UTF8Text(name), to: .text(UTF8Text(value))) }
        if client.bundle == nil { try client.set("bundle", to: "doto") }
        return client
    }

    package static func randomClient(using generator: inout some RandomNumberGenerator) throws -> Client {
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
    fileprivate mutating func set(_ name: UTF8Text, to text: UTF8Text) throws { try set(name, to: .text(text)) }
}

extension CheckRecorder {
    /// Answers a check and counts it, as the handler of a connection does.
    package func answer(_ policy: CompiledPolicy, _ client: Client, at time: Timestamp = CountedPolicy.noon) throws {
        record(client, policy.answer(to: client, at: time), policy, at: time)
    }
}
