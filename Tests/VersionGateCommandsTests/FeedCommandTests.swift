// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import TestDatabase
import Testing

@Suite("Feed commands", .migratedDatabase)
struct FeedCommandTests {
    private let binary = BuiltBinary(.current)

    private func prepare() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle, name, store_id) VALUES ('com.example.doto', 'Doto', 7);
            INSERT INTO releases (bundle, platform, version, live_at) VALUES
                ('com.example.doto', 'ios', '1.2', '2026-01-01Z'), ('com.example.doto', 'android', '1.2', '2026-01-01Z')
            """
        )
    }

    private func count(_ condition: String) async throws -> String {
        try await TestDatabase.current.psql("SELECT count(*) FROM \(condition)").output.trimmingCharacters(
            in: .newlines
        )
    }

    @Test("The feed commands write, list and remove a document, and undo takes it back")
    func template() async throws {
        try await prepare()
        let set = try await binary.shell(
            #"printf '{"min": "{{floor}}"}\r\n\n' | $VERSIONGATE feed template set COM.example.doto v.json --content-type application/json -"#
        )
        #expect(set.status == 0, "\(set.errors)")
        #expect(set.output.contains("feed template com.example.doto v.json"))
        #expect(set.output.contains("versiongate undo 2"))
        #expect(try await count("feed_templates WHERE body = '{\"min\": \"{{floor}}\"}'") == "1")

        let list = try await binary.run("feed list com.example.doto").output
        #expect(list.contains("/v1/feeds/com.example.doto/v.json"))
        #expect(list.contains("/v1/feeds/com.example.doto/iversion.plist"))
        #expect(list.contains("/lookup?id=7"))
        let json = try await binary.run("feed list com.example.doto --format json").output
        let feeds = try JSONDecoder().decode([[String: String]].self, from: Data(json.utf8))
        #expect(feeds.last?["address"] == "/v1/feeds/com.example.doto/v.json")
        // The addresses of formats are no names for templates.
        let formats = feeds.compactMap { $0["address"] }.filter { $0.hasPrefix("/v1/feeds/") }.dropLast()
        #expect(formats.count == 8)
        for address in formats {
            let name = address.split(separator: "/").last?.split(separator: "?").first ?? ""
            let refused = try await TestDatabase.current.psql(
                "INSERT INTO feed_templates VALUES ('com.example.doto', '\(name)', 'text/plain', 'x')"
            )
            #expect(refused.errors.contains("is a format of its own"), "\(address)")
        }

        #expect(try await binary.run("feed template remove com.example.doto v.json --yes").status == 0)
        #expect(try await count("feed_templates") == "0")
        #expect(try await binary.run("undo 3 --yes").status == 0)
        #expect(try await count("feed_templates") == "1")
    }

    @Test("The feed commands refuse a template with a fault at its line, in a policy file too, and find those of SQL")
    func faults() async throws {
        try await prepare()
        let set = try await binary.shell(
            "printf 'a\n  {{flor}}\n' | $VERSIONGATE feed template set com.example.doto v --content-type text/plain -"
        )
        #expect(set.status == 1)
        #expect(
            set.errors.contains(
                "<standard input>:2:3: there is no value \"flor\"\nHint: Did you mean floor? The values here are"
            )
        )
        #expect(try await count("feed_templates") == "0")
        #expect(try await binary.run("feed lint").output == "No faults in 0 templates.\n")

        try await TestDatabase.current.edit(
            "INSERT INTO feed_templates VALUES ('com.example.doto', 'v', 'text/plain', 'x'), ('com.example.doto', 'w', 'text/plain', '{{{name}}}')"
        )
        let lint = try await binary.run("feed lint com.example.doto")
        #expect(lint.status == 1)
        #expect(lint.output.hasPrefix("com.example.doto w:1:1: a value that is not escaped\nHint: Write two braces"))
        let json = try await binary.run("feed lint --format json")
        #expect(json.status == 1)
        let faults = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]]
        #expect(faults?.count == 1)
        #expect(faults?.first?["name"] as? String == "w")

        try await PolicyFileFixture.with { fixture in
            let exported = try await fixture.exported()
            // What SQL wrote and the file leaves is not the file's fault.
            let unchanged = try fixture.write(exported)
            #expect(try await binary.run("plan \(unchanged)").status == 0)
            let changed = try fixture.write(exported.replacing("body: x", with: "body: \"{{x}}\""))
            let plan = try await binary.run("plan \(changed)")
            #expect(plan.status == 1)
            #expect(
                plan.errors.contains(
                    "policy.yaml:10:15: the feed v: line 1, column 1 of the body: there is no value \"x\""
                ),
                "\(plan.errors)\(exported)"
            )
        }
    }

    @Test("The release command keeps notes by language, for every row of a version or one platform")
    func notes() async throws {
        try await prepare()
        #expect(
            try await binary.run(arguments: ["release", "notes", "com.example.doto", "1.2", "Starts again."]).status
                == 0
        )
        let german = try await binary.shell(
            "printf 'Startet\r\nwieder.\n' | $VERSIONGATE release notes com.example.doto 1.2 --platform ios --language de --file -"
        )
        #expect(german.status == 0, "\(german.errors)")
        #expect(german.output.contains("release note com.example.doto 1.2 ios de"), "\(german.output)")
        let list = try await binary.run("release list").output
        #expect(list.contains("de, und"))
        let json = try await binary.run("release list --format json").output
        #expect(json.contains(#"{"language" : "de", "text" : "Startet\nwieder."}"#), "\(json)")
        // Case does not count in languages.
        _ = try await binary.run(arguments: ["release", "notes", "com.example.doto", "1.2", "Neu", "--language", "DE"])
        #expect(try await count("release_notes WHERE text = 'Neu'") == "2")
        #expect(try await count("release_notes WHERE language = 'de'") == "1")

        try await PolicyFileFixture.with { fixture in
            let exported = try await fixture.exported()
            #expect(exported.contains("          und: Starts again.\n"), "\(exported)")
            let file = try fixture.write(exported.replacing("Neu", with: "Ganz neu"))
            #expect(try await binary.run("plan \(file)").output.contains("release note com.example.doto 1.2 ios de"))
            #expect(try await binary.run("apply \(file) --yes").status == 0)
            #expect(try await count("release_notes WHERE text = 'Ganz neu'") == "2")
            #expect(try await binary.run("plan \(file)").output.contains("No differences"))
        }
        #expect(try await binary.run("release notes com.example.doto 1.2 --remove").status == 0)
        #expect(try await count("release_notes WHERE language = 'und'") == "0")
    }

    @Test("The app commands keep the number in the store, the seller and the keys of CodePush, and clear them")
    func identifiers() async throws {
        let added = try await binary.run(
            "app add a --store-id id1234567890 --seller ACME --codepush-key 1234567890 --codepush-key abcdefghij"
        )
        #expect(added.status == 0, "\(added.errors)")
        let shown = try await binary.run("app show a").output
        for part in ["store_id", "1234567890", "ACME", "1234567890, abcdefghij"] { #expect(shown.contains(part)) }
        #expect(try await binary.run("app edit a --codepush-key 0987654321").status == 0)
        #expect(try await count("apps WHERE codepush_keys = '{0987654321}' AND store_id = 1234567890") == "1")
        let cleared = try await binary.run("app edit a --clear store-id --clear seller --clear codepush-keys")
        #expect(cleared.status == 0, "\(cleared.errors)")
        #expect(try await count("apps WHERE num_nulls(store_id, seller, codepush_keys) = 3") == "1")
    }
}
