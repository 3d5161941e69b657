import Testing
package import UpdatePolicy

/// Short ways to write the policies and clients of the tests.
package enum TestPolicy {
    /// The app of most rules, releases and clients.
    package static let bundle = "com.example.doto"

    /// The time of most checks.
    package static let noon = Timestamp(secondsSince1970: 1_772_366_400)

    /// So many hours and microseconds after noon.
    package static func hours(_ hours: Int64, microseconds: Int64 = 0) -> Timestamp {
        noon.advanced(byMicroseconds: hours * 3_600_000_000 + microseconds)
    }

    /// A policy, compiled.
    package static func policy(
        _ rules: [Rule],
        releases: [Release] = [],
        apps: [App] = [App(bundle: bundle, name: "Doto")]
    ) throws -> CompiledPolicy {
        try CompiledPolicy(Policy(revision: 1, token: "token", apps: apps, releases: releases, rules: rules))
    }

    /// A rule of the app, its key as title and text.
    package static func rule(_ key: String, _ change: (inout Rule) -> Void = { _ in }) -> Rule {
        var rule = Rule(key: key, title: key, text: key) {
            $0.bundle = bundle
        }
        change(&rule)
        return rule
    }

    /// A release of the app on iOS that has been live for a day.
    package static func release(_ version: String, _ change: (inout Release) -> Void = { _ in }) -> Release {
        var release = Release(id: 1, bundle: bundle, platform: "ios", version: version) {
            $0.liveAt = hours(-24)
        }
        change(&release)
        return release
    }

    /// A client of the app.
    package static func client(_ members: KeyValuePairs<String, String> = [:]) throws -> Client {
        try client(of: members.map { ($0.key, $0.value) })
    }

    /// A client of the app, with members that were put together.
    package static func client(of members: [(name: String, value: String)]) throws -> Client {
        var client = Client()
        for (name, value) in members { try client.set(UTF8Text(name), to: .text(UTF8Text(value))) }
        if client.bundle == nil { try client.set("bundle", to: .text(UTF8Text(bundle))) }
        try client.validate()
        return client
    }
}

extension CompiledPolicy {
    /// What a client gets: the keys in order, with `!` behind a lockout; explanations and bytes must agree with it.
    package func keys(_ client: Client, at time: Timestamp = TestPolicy.noon) -> [String] {
        let messages = messages(for: client, at: time)
        let explained = explain(client, at: time).filter { $0.outcome == .sent || $0.outcome == .sentWithoutLockout }
        #expect(explained.map(\.key) == messages.map(\.id))
        let answer = answer(to: client, at: time)
        #expect(answer.sent.map { key(of: $0.id) } == messages.map(\.id))
        #expect(answer.sent.map(\.lockout) == messages.map(\.lockout))
        return messages.map { $0.id + ($0.lockout ? "!" : "") }
    }
}
