import Foundation
import Postgres
import TestDatabase
import Testing

@Suite("Policy file of one app", .migratedDatabase)
struct PolicyFilePartTests {
    private static let two = """
        versiongate: 1
        apps:
          com.example.doto:
            releases:
              - {platform: ios, version: "1.2", live_at: 2026-03-01T12:00:00Z}
          com.example.other:
            releases:
              - {platform: ios, version: "3", live_at: 2026-03-01T12:00:00Z}
        rules:
          doto-update: {bundle: com.example.doto, title: D, text: X}
          everybody: {title: E, text: X}
          other-update: {bundle: com.example.other, title: O, text: X}
        ...

        """

    @Test("A policy file of one app changes that app alone, and removes what it lacks of it")
    func changesOneApp() async throws {
        try await PolicyFileFixture.with { fixture in
            try await fixture.binary.run("apply --yes \(try fixture.write(Self.two))")
            let part = fixture.folder.appending(path: "doto.yaml").path
            let exported = try await fixture.binary.run("export --bundle COM.example.doto --output \(part)")
            #expect(exported.status == 0, "\(exported.errors)")
            let text = try String(contentsOfFile: part, encoding: .utf8)
            #expect(
                text.hasPrefix("# The policy at revision 1: the app com.example.doto, its releases and rules, without")
            )
            #expect(text.contains("versiongate apply FILE --bundle com.example.doto\n"))
            #expect(text.contains("doto-update"))
            #expect(!text.contains("other"))
            #expect(!text.contains("everybody"))
            #expect(try await fixture.binary.run("plan \(part) --bundle com.example.doto").status == 0)

            let before = try await fixture.exported()
            let edited = text.replacing("doto-update", with: "doto-new").replacing("\"1.2\"", with: "\"1.3\"")
            let file = try fixture.write(edited, to: "edited.yaml")
            let plan = try await fixture.binary.run("plan \(file) --bundle com.example.doto")
            #expect(plan.status == 2)
            #expect(
                plan.output.contains("2 to add, 0 to change, 2 to remove. Planned at revision 1."),
                "\(plan.output)"
            )
            #expect(plan.output.contains("apply \(file) --bundle com.example.doto --revision 1\n"))
            let applied = try await fixture.binary.run("apply \(file) --bundle com.example.doto --yes")
            #expect(applied.status == 0, "\(applied.errors)")
            let after = try await fixture.exported()
            #expect(after == before.replacing("doto-update", with: "doto-new").replacing("\"1.2\"", with: "\"1.3\""))

            let none = try fixture.write("versiongate: 1\napps: {}\nrules: {}\n...\n", to: "none.yaml")
            let removal = try await fixture.binary.run("apply \(none) --bundle com.example.doto")
            #expect(removal.errors.contains("this removes app com.example.doto"), "\(removal.errors)")
            #expect(try await fixture.binary.run("apply \(none) --bundle com.example.doto --yes").status == 0)
            #expect(try await fixture.exported().contains("other-update"))
            #expect(try await fixture.exported().contains("everybody"))
            let unknown = try await fixture.binary.run("export --bundle com.example.dot")
            #expect(unknown.errors.contains("there is no app com.example.dot"))
        }
    }

    @Test("A policy file of one app is refused with lines where it has other apps, their rules, or rules for every app")
    func refusesOthers() async throws {
        try await PolicyFileFixture.with { fixture in
            let file = try fixture.write(Self.two)
            try await fixture.binary.run("apply --yes \(file)")
            for command in ["plan", "apply --yes"] {
                let result = try await fixture.binary.run("\(command) \(file) --bundle com.example.doto")
                #expect(result.status == 1)
                let faults = result.errors.split(separator: "\n").filter { !$0.hasPrefix("Hint: ") }.map { line in
                    line.replacing("Error: ", with: "").replacing("\(file):", with: "")
                }
                #expect(
                    faults == [
                        #"6:3: the app "com.example.other" is another app"#,
                        #"11:3: the rule "everybody" is for every app"#,
                        #"12:3: the rule "other-update" is of the app "com.example.other""#,
                    ]
                )
                #expect(result.errors.contains("or leave --bundle out: then the file is the whole policy."))
            }
            let stolen = try fixture.write(
                """
                versiongate: 1
                apps: {com.example.doto: {}}
                rules:
                  everybody: {bundle: com.example.doto, title: D, text: X}
                ...

                """
            )
            let result = try await fixture.binary.run("plan \(stolen) --bundle com.example.doto")
            #expect(
                result.errors.contains(
                    "\(stolen):4:3: there is a rule \"everybody\" already, which is not of this app\nHint: Choose another key."
                ),
                "\(result.errors)"
            )
            #expect(try await fixture.revision() == 1)
        }
    }

    @Test(
        "A plan for a pull request has its figures in tables and its differences in a diff, and nothing in it is markup"
    )
    func writesMarkdown() async throws {
        try await PolicyFileFixture.with { fixture in
            try await fixture.binary.run("apply --yes \(try fixture.write(Self.two))")
            try await TestDatabase.current.addCounts(
                "(now(), 'com.example.doto', 'ios', '1.1-|`<b>@me', 10, 0, 0), (now(), 'com.example.doto', 'ios', '1.1', 90, 0, 0)"
            )
            let evil = "`````` @everyone <img src=x> [a](http://b) | #1"
            let file = try fixture.write(
                Self.two
                    .replacing(
                        "title: D, text: X",
                        with:
                            "title: '\(evil)', text: \"A\\n```\\n# B\", enabled: true, lockout: true, versions: '<1.2'"
                    )
                    .replacing("other-update", with: "other-new")
            )
            let plan = try await fixture.binary.run("plan \(file) --format markdown")
            #expect(plan.status == 2, "\(plan.errors)")
            let text = plan.output
            #expect(text.hasPrefix("### versiongate plan: 1 to add, 1 to change, 1 to remove\n\nOn ` "))
            #expect(text.contains("**Needs approval:** ` this would newly lock out up to"))
            #expect(text.contains("**Warnings**\n\n- ` Warning: "), "\(text)")
            #expect(text.contains("| locked out | 0.0 % |"))
            #expect(text.contains("| ` com.example.doto ` | ` 1.1 ` | ` ios ` | 90.0 % | 100.0 % |"), "\(text)")
            #expect(text.contains("```````diff\n"))
            #expect(text.contains("\n-      D\n+      \(evil)\n"), "\(text)")
            #expect(text.contains("\n+ rule other-new ("))
            #expect(text.contains("\n- rule other-update ("))
            #expect(text.hasSuffix("To do exactly this: ` versiongate apply \(file) --revision 1 `\n"))
            // Outside of code there is nothing that anybody else wrote.
            var isCode = false
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.hasPrefix("```") {
                    isCode.toggle()
                } else if !isCode {
                    #expect(!line.replacing(#/(`+) .*? \1(?!`)/#, with: "").contains("@"), "\(line)")
                }
                if isCode, line.hasPrefix("```````") { #expect(line == "```````diff") }
            }
            let again = try await fixture.binary.run("plan \(try fixture.write(Self.two)) --format markdown")
            #expect(again.status == 0)
            #expect(again.output.hasPrefix("### versiongate plan: no differences\n\nThe policy at revision 1 of ` "))
        }
    }
}
