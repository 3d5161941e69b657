// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import TestDatabase
import TestRandom
import Testing
import UpdatePolicy

@Suite("Allowed contents", .whole, .migratedDatabase)
struct AllowedContentsTests {
    /// Says for each text whether a check of the schema lets it through.
    private func allowed(_ texts: [String], by check: String, _ connection: PostgresConnection) async throws -> [Bool] {
        try await connection.execute(
            """
            CREATE OR REPLACE FUNCTION pg_temp.is_allowed(value text) RETURNS boolean LANGUAGE plpgsql AS $$
            BEGIN
                RETURN \(check);
            EXCEPTION WHEN check_violation THEN
                RETURN false;
            END $$
            """
        )
        return try await connection.query(
            """
            SELECT pg_temp.is_allowed(named.value) FROM unnest($1::text[]) WITH ORDINALITY AS named (value, place)
            ORDER BY place
            """,
            [texts]
        ).map { try $0.decode(0, as: Bool.self) }
    }

    private static let links = [
        "https://example.com/a?b#c", "HTTP://example.com", "itms-apps://apps.apple.com/app/id1", "itms-appss:x",
        "macappstore://a", "market://details?id=com.example", "ms-windows-store://pdp/?id=1", "https:///a", "https://",
        "http://?a", "https:/example.com", "javascript:alert(1)", "file:///etc/passwd", "market:", "https", "store", "",
        "intent://a#Intent;end", "https://example.com/ä", "https://a b", "https://a\u{1}", "data:text/html,x", "://a",
    ]

    @Test("A policy may hold the links that check_link lets through, also when they are changed at random")
    func links() async throws {
        var random = SeededGenerator()
        let mutator = Mutator(words: [
            "https", "market", "javascript", ":", "//", "/", "?", "#", " ", "%20", "é", "\u{7f}",
        ])
        var links =
            Self.links + [String(repeating: "a", count: 2_048), "https://" + String(repeating: "a", count: 2_040)]
        links += ["https://" + String(repeating: "a", count: 2_041)]
        for _ in 0..<3_000 {
            var bytes = Array(random.pick(Self.links).utf8)
            mutator.mutate(&bytes, &random)
            let text = String(decoding: bytes, as: UTF8.self)
            // PostgreSQL has no texts with U+0000.
            if !text.utf8.contains(0) { links.append(text) }
        }
        let connection = try await TestDatabase.current.connect()
        let allowed = try await allowed(links, by: "versiongate_internal.check_link(value, 'rules.link')", connection)
        #expect(allowed.contains(true) && allowed.contains(false))
        for (link, isAllowed) in zip(links, allowed) {
            #expect(MessageLink.isAllowed(link) == isAllowed, "\(link.debugDescription), seed \(random.seed)")
        }
    }

    @Test("A policy may hold the hints that the schema lets through")
    func hints() async throws {
        let connection = try await TestDatabase.current.connect()
        let lengths = ["1 second", "1 day", "36500 days", "0 seconds", "-1 day", "1.5 seconds", "0.000001 seconds"]
        let check = "versiongate_internal.check_duration(value::interval, 'rules.remind')"
        for (length, isAllowed) in zip(lengths, try await allowed(lengths, by: check, connection)) {
            let rule = Rule(key: "r", title: "t", text: "x", remind: DayTimeInterval(length))
            let policy = Policy(revision: 1, token: "t", rules: [rule])
            #expect(rule.remind != nil && ((try? policy.requireAllowedContents()) != nil) == isAllowed, "\(length)")
        }
    }

    @Test("A policy may hold no keys and bundles but those that the schema lets through")
    func names() async throws {
        let connection = try await TestDatabase.current.connect()
        let keys = [
            "a", "1.a_b-c", ".a", "A", "", "a b", "é", String(repeating: "a", count: 64),
            "a" + String(repeating: "a", count: 64),
        ]
        for (key, isAllowed) in zip(
            keys,
            try await allowed(keys, by: "versiongate_internal.check_key(value, 'rules.key')", connection)
        ) {
            let policy = Policy(revision: 1, token: "t", rules: [Rule(key: key, title: "t", text: "x")])
            #expect(((try? policy.requireAllowedContents()) != nil) == isAllowed, "\(key)")
        }
        let bundles = ["com.example.a", "a b", "", "a\u{85}", "a\n", String(repeating: "a", count: 256)]
        let check = "versiongate_internal.check_bundle(value, 'apps.bundle')"
        for (bundle, isAllowed) in zip(bundles, try await allowed(bundles, by: check, connection)) {
            let policy = Policy(revision: 1, token: "t", apps: [App(bundle: bundle)])
            #expect(((try? policy.requireAllowedContents()) != nil) == isAllowed, "\(bundle.debugDescription)")
        }
    }

    @Test(
        "A policy may hold the texts that the schema has always let through",
        arguments: [
            ("a", true), ("a\nb", true), (" \n", false), ("", false), ("a\u{7}", false), ("a\u{9b}", false),
            (String(repeating: "é", count: 200), true), (String(repeating: "é", count: 201), false),
        ]
    )
    func texts(text: String, isAllowed: Bool) {
        for rule in [
            Rule(key: "r", title: text, text: "x"),
            Rule(key: "r", title: "t", text: "x", texts: [RuleText(language: "de", title: text, text: "x")]),
        ] {
            let policy = Policy(revision: 1, token: "t", rules: [rule])
            #expect(((try? policy.requireAllowedContents()) != nil) == isAllowed)
        }
    }
}
