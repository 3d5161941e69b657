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

    @Test("The command line takes the links that check_link lets through, also when they are changed at random")
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
}
