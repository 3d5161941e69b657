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
        #expect(formats.count == 5)
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

    @Test("The feed command shows a document of now, of another time and of an earlier policy, byte for byte")
    func show() async throws {
        try await prepare()
        try await TestDatabase.current.edit(
            """
            INSERT INTO release_notes SELECT id, language, text FROM releases,
                (VALUES ('und', 'New'), ('de', 'Neu')) AS notes (language, text) WHERE platform = 'ios';
            INSERT INTO rules (key, bundle, target, title, text, enabled, starts_at)
                VALUES ('now', 'com.example.doto', '1.2', 'T', 'X', true, NULL)
            """
        )
        let revision = try await TestDatabase.current.psql("SELECT revision FROM policy_revision").output
            .trimmingCharacters(in: .newlines)
        try await TestDatabase.current.edit("UPDATE rules SET starts_at = '2099-01-01Z'")
        let show = "feed show COM.example.doto"
        let none = #"{"updates":{"check-for":"never"}}"#
        #expect(try await binary.run("\(show) updates.json").output == none)
        let later = try await binary.run("\(show) updates.json --at 2099-01-02T00:00:00Z").output
        #expect(later.contains(#""version":"1.2""#) && later.contains(#""release-notes":"New""#), "\(later)")
        #expect(!later.hasSuffix("\n"))
        let earlier = "\(show) updates.json --revision \(revision)"
        #expect(try await binary.run(earlier).output == later)
        #expect(try await binary.run("\(earlier) language=de").output.contains(#""release-notes":"Neu""#))
        let accepting = try await binary.run(
            arguments: earlier.components(separatedBy: " ") + ["--accept-language", "fr, de;q=0.5"]
        )
        #expect(accepting.output.contains(#""release-notes":"New""#), "\(accepting)")
        #expect(try await binary.run("\(earlier) --accept-language de-AT").output.contains(#""Neu""#))
        #expect(try await binary.run("\(earlier) version=1.2").output == none)
        // The app need not be named again where the format names it.
        #expect(try await binary.run("\(show) lookup id=8").output == #"{"resultCount":0,"results":[]}"#)
        let lookup = try await binary.run("\(show) lookup --revision \(revision)").output
        #expect(lookup.contains(#""trackId":7"#), "\(lookup)")
        let warned = try await binary.run("\(show) updates.json vresion=1.1")
        #expect(warned.status == 0 && warned.output == none)
        #expect(warned.errors.contains("did you mean version?"))
        let germany = "UPDATE rules SET starts_at = NULL, regions = '{DE}', lockout = true"
        try await TestDatabase.current.edit(germany)
        let lost = try await binary.run("\(show) iversion.plist")
        #expect(
            lost.errors == "Not in this document:\n  now: It depends on region, which the question leaves open.\n",
            "\(lost.errors)"
        )
        let known = try await binary.run("\(show) iversion.plist region=DE")
        #expect(known.errors == "Not in this document:\n  now: The lockout is lost: the format has none.\n")
        #expect(try await binary.run("\(show) updates.json region=DE").errors == "")
    }

    @Test("On a terminal a line break follows the document, and what it leaves out is wrapped at any width")
    func terminal() async throws {
        try await prepare()
        try await TestDatabase.current.edit(
            """
            INSERT INTO rules (key, bundle, target, title, text, enabled, lockout)
                VALUES ('update', 'com.example.doto', '1.2', 'T', 'X', true, true)
            """
        )
        let terminal = try await TerminalSession(binary, variables: ["TZ": "UTC"])
        defer { terminal.end() }
        let shown = try await terminal.run("versiongate feed show com.example.doto updates.json")
        #expect(shown.output.replacing("\r", with: "").hasSuffix("}\n"), "\(shown.output)")
        for width in [30, 50, 80, 200] {
            _ = try await terminal.run("stty cols \(width)")
            let shown = try await terminal.run("versiongate feed show com.example.doto lookup > /dev/null")
            let lines = shown.output.replacing("\r", with: "").split(separator: "\n")
            #expect(lines.contains { $0.contains("update: ") }, "\(shown.output)")
            #expect(lines.allSatisfy { $0.replacing(#/\u{1B}\[\d*m/#, with: "").count <= width }, "\(shown.output)")
        }
    }

    @Test("The feed command shows templates with the values and messages of the client")
    func showTemplate() async throws {
        try await prepare()
        try await TestDatabase.current.edit(
            """
            INSERT INTO store_links VALUES ('com.example.doto', 'ios', 'https://a.example');
            INSERT INTO rules (key, bundle, target, title, text, enabled, lockout, link)
                VALUES ('update', 'com.example.doto', '1.2', 'T', 'To {target}', true, true, 'store');
            INSERT INTO feed_templates VALUES ('com.example.doto', 'v.txt', 'text/plain',
                '{{name}} {{prompt}} {{floor}} {{latest.version}} {{store_link}} {{#messages}}{{id}}: {{text}}{{/messages}}'),
                ('com.example.doto', 'bad', 'text/plain', '{{{name}}}'),
                ('com.example.doto', 'large', 'text/plain', '{{#messages}}' || repeat('x', 60000) || '{{/messages}}');
            INSERT INTO rules (key, title, text, enabled) SELECT 'm' || n, 'T', 'X', true FROM generate_series(1, 20) AS n
            """
        )
        let every = try await binary.run("feed show com.example.doto v.txt platform=ios").output
        #expect(every.hasPrefix("Doto 1.2 1.2 1.2 https://a.example m1: X"), "\(every)")
        let old = try await binary.run("feed show com.example.doto v.txt platform=ios version=1.0").output
        #expect(old.hasSuffix("update: To 1.2"), "\(old)")
        let bad = try await binary.run("feed show com.example.doto bad")
        #expect(bad.status == 1 && bad.output.isEmpty)
        #expect(bad.errors.contains("com.example.doto bad:1:1: a value that is not escaped\nHint: Write two braces"))
        let large = try await binary.run("feed show com.example.doto large")
        #expect(large.status == 1 && large.output.isEmpty)
        #expect(
            large.errors.contains(
                "the document would have more than 1048576 bytes, so servers answer 404; write less in com.example.doto large"
            ),
            "\(large.errors)"
        )
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

    @Test("The app commands keep the number in the store and the seller, and clear them")
    func identifiers() async throws {
        let added = try await binary.run("app add a --store-id id1234567890 --seller ACME")
        #expect(added.status == 0, "\(added.errors)")
        let shown = try await binary.run("app show a").output
        for part in ["store_id", "1234567890", "ACME"] { #expect(shown.contains(part)) }
        let cleared = try await binary.run("app edit a --clear store-id --clear seller")
        #expect(cleared.status == 0, "\(cleared.errors)")
        #expect(try await count("apps WHERE num_nulls(store_id, seller) = 2") == "1")
    }
}
