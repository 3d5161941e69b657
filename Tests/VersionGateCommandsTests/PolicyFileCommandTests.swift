import Foundation
import Postgres
import Subprocess
import TestDatabase
import TestSystem
import Testing
import UpdatePolicy

@testable import PolicyStore
@testable import VersionGateCommands

@Suite("Policy file commands", .migratedDatabase)
struct PolicyFileCommandTests {
    @Test("The commands make the policy what a file says, then find no difference, and write what was read")
    func makesThePolicy() async throws {
        try await PolicyFileFixture.with { fixture in
            let file = try fixture.write(PolicyFileFixture.example)
            let plan = try await fixture.binary.run("plan \(file)")
            #expect(plan.status == 2)
            let rule =
                "+ rule bad-1.1 (com.example.doto: >=1.1 <1.1.5)\n    + bundle: com.example.doto\n    + enabled: true\n"
            #expect(plan.output.contains(rule), "\(plan.output)")
            #expect(plan.output.contains("9 to add, 0 to change, 0 to remove. Planned at revision 0."))
            #expect(plan.output.contains("versiongate apply \(file) --revision 0\n"))
            #expect(!plan.output.contains("\u{1B}"))
            #expect(try await fixture.revision() == 0, "plan changes nothing")

            let apply = try await fixture.binary.run(arguments: [
                "apply", file, "--revision", "0", "--why", "because", "--yes",
            ])
            #expect(apply.status == 0, "\(apply.errors)")
            #expect(apply.output.contains("This is change 1. To take it back: versiongate undo 1"))
            let history = try await fixture.database.psql("SELECT tool, why, os_user IS NOT NULL FROM changes").output
            #expect(history == "versiongate|because|t\n")

            let again = try await fixture.binary.run("plan \(file)")
            #expect(again.status == 0)
            #expect(again.output == "No differences: the policy at revision 1 is as the file says.\n")
            #expect(try await fixture.binary.run("apply \(file)").output.contains("Nothing changed"))

            let copy = fixture.folder.appending(path: "copy.yaml").path
            let export = try await fixture.binary.run("export --output \(copy)")
            #expect(export.output == "Wrote the policy at revision 1 to \(copy).\n")
            let written = try String(contentsOfFile: copy, encoding: .utf8)
            #expect(written == (try await fixture.binary.run("export").output))
            #expect(try await fixture.binary.run("plan \(copy)").status == 0)
            #expect(try await fixture.binary.run("apply \(copy)").status == 0)
            #expect(try await fixture.revision() == 1)

            try await fixture.binary.run("undo 1 --yes")
            #expect(try await fixture.exported() == "versiongate: 1\n\napps: {}\n\nrules: {}\n...\n")
            try await fixture.binary.run("undo --yes 2")
            #expect(try await fixture.binary.run("plan \(copy)").status == 0)
        }
    }

    @Test("The commands show each column before and after, for people and for programs")
    func showsChanges() async throws {
        try await PolicyFileFixture.with { fixture in
            try await fixture.binary.run("apply --yes \(try fixture.write(PolicyFileFixture.example))")
            let edited = PolicyFileFixture.example
                .replacing("live_at: 2026-03-01T12:00:00Z", with: "live_at: 2026-03-02T12:00:00Z")
                .replacing("text: This version loses data.", with: "text: |-\n      This version\n      loses data.")
                .replacing("      de: {", with: "      DE: {")
            let file = try fixture.write(edited)
            let plan = try await fixture.binary.run("plan \(file)")
            #expect(plan.status == 2)
            #expect(
                plan.output == """
                    ~ release com.example.doto 1.2 ios
                        live_at: 2026-03-01T12:00:00Z -> 2026-03-02T12:00:00Z
                    ~ rule bad-1.1 (com.example.doto: >=1.1 <1.1.5)
                        text:
                        - This version loses data.
                        + This version
                        + loses data.
                    ~ text update-1.2 DE
                        language: de -> DE

                    0 to add, 3 to change, 0 to remove. Planned at revision 1.
                    Impact: not known; no checks were counted in the last 7 days.
                    Needs approval: this may lock somebody out, and no checks of com.example.doto were counted in the last \
                    7 days that would say how many.
                    To do exactly this: versiongate apply \(file) --revision 1

                    """
            )
            let json = try await fixture.binary.run("plan \(file) --format json")
            #expect(json.status == 2)
            #expect(
                json.output.hasPrefix(
                    """
                    {"revision":1,"differences":[
                    {"kind":"changed","table":"releases","key":"com.example.doto 1.2 ios","columns":[{"name":"live_at",\
                    "before":"2026-03-01T12:00:00+00:00","after":"2026-03-02T12:00:00+00:00"}]},

                    """
                )
            )
            let coloured = PlanReport(
                revision: 1,
                change: PolicyChange(
                    id: 2,
                    at: .init(secondsSince1970: 0),
                    role: "r",
                    osUser: nil,
                    tool: nil,
                    why: nil,
                    undoes: nil,
                    rows: [
                        .init(
                            table: "rules", key: "k", kind: .changed,
                            columns: [.init(name: "os", before: "1", after: nil)]
                        )
                    ]
                ),
                unchanged: "",
                ending: "",
                terminal: Terminal(width: 80, usesColor: true)
            )
            #expect(coloured.text.hasPrefix("\u{1B}[33m~ rule k\u{1B}[0m\n    os: \u{1B}[31m1\u{1B}[0m -> "))
        }
    }

    @Test("The commands refuse what the database refuses, with the line that is meant, and change nothing")
    func refuses() async throws {
        try await PolicyFileFixture.with { fixture in
            let wrong = PolicyFileFixture.example
                .replacing("versions: \">=1.1 <1.1.5\"", with: "versions: \">2 <1\"")
                .replacing("ios: https://example.com/ios", with: "ios: javascript:alert(1)")
                .replacing("text: \"{app} {target} ist da.\"", with: "text: \"\"")
            let file = try fixture.write(wrong)
            for command in ["plan", "apply"] {
                let result = try await fixture.binary.run("\(command) \(file)")
                #expect(result.status == 1)
                #expect(result.errors.contains("\(file):6:12: store_links.link: \"javascript:alert(1)\" is not a link"))
                #expect(result.errors.contains("\(file):18:15: rules.versions: "))
                #expect(
                    result.errors.contains("\(file):32:46: rule_texts.text: an empty text\nHint: "),
                    "\(result.errors)"
                )
            }

            let lockout = PolicyFileFixture.example.replacing("versions: \">=1.1 <1.1.5\"", with: "versions: \"*\"")
            let noWayOut = try await fixture.binary.run("plan \(try fixture.write(lockout))")
            #expect(noWayOut.status == 1)
            #expect(
                noWayOut.errors.contains("\(file):21:14: rules.lockout: \"bad-1.1\" would lock out"),
                "\(noWayOut.errors)"
            )

            let falling = PolicyFileFixture.example.replacing("rollout: 100}", with: "rollout: 1}")
            let fall = try await fixture.binary.run("plan \(try fixture.write(falling))")
            #expect(fall.errors.contains("rollout_steps.rollout: the steps of \"update-1.2\" fall"))
            #expect(fall.errors.contains("Error: \(file):27:"), "\(fall.errors)")

            let spelled = PolicyFileFixture.example.replacing(
                "platform: android\n        staged: true",
                with: "platform: ios\n      - {version: \"1.2.0\", platform: ios}"
            )
            let spelling = try await fixture.binary.run("plan \(try fixture.write(spelled))")
            #expect(spelling.errors.contains("in another spelling"), "\(spelling.errors)")

            let target = PolicyFileFixture.example.replacing("    target: \"1.2\"\n", with: "")
            #expect(try await fixture.binary.run("plan \(try fixture.write(target))").status == 1)
            #expect(try await fixture.revision() == 0)
        }
    }

    @Test("The commands say clearly that a file is missing, a folder, unreadable or faulty")
    func saysWhatIsWrongWithAFile() async throws {
        try await PolicyFileFixture.with { fixture in
            let missing = try await fixture.binary.run("plan \(fixture.folder.path)/none.yaml")
            #expect(missing.status == 1)
            #expect(
                missing.errors == "Error: \(fixture.folder.path)/none.yaml cannot be read: No such file or directory\n"
            )
            let folder = try await fixture.binary.run("apply \(fixture.folder.path)")
            #expect(folder.status == 1)
            #expect(folder.errors.contains("is a folder"))
            #expect(try await fixture.binary.run("plan").status == 64)
            let faulty = try fixture.write("versiongate: 1\nrule: {}\n...\n")
            let unknown = try await fixture.binary.run("plan \(faulty)")
            #expect(unknown.status == 1)
            #expect(
                unknown.errors
                    == "Error: \(faulty):2:1: a policy file: unknown key \"rule\"\nHint: Did you mean rules?\n"
            )
            let export = try await fixture.binary.run("export --output \(fixture.folder.path)/none/policy.yaml")
            #expect(export.status == 1)
            #expect(export.errors.contains("cannot be written: No such file or directory"), "\(export.errors)")
        }
    }

    @Test("The commands remove what is not in the file, in a script with --yes alone")
    func removes() async throws {
        try await PolicyFileFixture.with { fixture in
            try await fixture.binary.run("apply --yes \(try fixture.write(PolicyFileFixture.example))")
            let before = try await fixture.exported()
            let file = try fixture.write("versiongate: 1\napps: {com.example.DOTO: {name: Doto}}\nrules: {}\n...\n")
            let plan = try await fixture.binary.run("plan \(file)")
            #expect(plan.output.contains("~ app com.example.DOTO\n    bundle: com.example.doto -> com.example.DOTO\n"))
            #expect(plan.output.contains("- rule bad-1.1 (com.example.doto: >=1.1 <1.1.5)\n"))
            #expect(plan.output.contains("0 to add, 1 to change, 8 to remove."))
            let refused = try await fixture.binary.run("apply \(file)")
            #expect(refused.status == 1)
            #expect(refused.output.contains("  rule bad-1.1 (enabled lockout, app com.example."), "\(refused.output)")
            #expect(refused.errors.contains("this removes "), "\(refused.errors)")
            #expect(refused.errors.contains("nothing was changed on "))
            #expect(refused.errors.contains("repeat it with --yes"))
            #expect(try await fixture.exported() == before)
            #expect(try await fixture.binary.run("apply \(file) --yes").status == 0)
            #expect(
                try await fixture.exported()
                    == "versiongate: 1\n\napps:\n  com.example.DOTO:\n    name: Doto\n\nrules: {}\n...\n"
            )
            try await fixture.binary.run("undo --yes 2")
            #expect(try await fixture.exported() == before)
        }
    }

    @Test(
        "The commands remove more than a tenth of an app's rules or releases, and at least three, with --removals alone",
        arguments: [
            (removed: 2, of: 3, isRefused: false), (removed: 3, of: 3, isRefused: true),
            (removed: 3, of: 30, isRefused: false), (removed: 4, of: 30, isRefused: true),
        ]
    )
    func refusesManyRemovals(_ removed: Int, of all: Int, isRefused: Bool) async throws {
        try await PolicyFileFixture.with { fixture in
            for kind in ["rules", "rules for every app", "releases"] {
                // A rule for every app stands beside those of the app, and the other way round: it counts with its own.
                let (own, other) = kind == "rules" ? ("bundle: a, ", "") : ("", "bundle: a, ")
                func text(_ numbers: Range<Int>) -> String {
                    let releases = numbers.map { "{version: '\($0)', platform: ios}" }.joined(separator: ", ")
                    let rules = numbers.map { "  k\($0): {\(own)title: T, text: X}\n" }.joined()
                    return kind == "releases"
                        ? "versiongate: 1\napps: {a: {releases: [\(releases)]}}\nrules: {}\n...\n"
                        : "versiongate: 1\napps: {a: {}}\nrules:\n  other: {\(other)title: T, text: X}\n\(rules)...\n"
                }
                try await fixture.binary.run("apply --yes --removals \(try fixture.write(text(0..<all)))")
                let revision = try await fixture.revision()
                let file = try fixture.write(text(removed..<all))
                let applied = try await fixture.binary.run("apply --yes \(file)")
                #expect(applied.status == (isRefused ? 1 : 0), "\(kind): \(applied.errors)")
                #expect(try await fixture.revision() == revision + (isRefused ? 0 : 1))
                guard isRefused else { continue }
                let owner = kind.hasSuffix("app") ? "rules for every app" : "\(kind) of a"
                #expect(
                    applied.errors.contains("would remove \(removed) of the \(all) \(owner); nothing was changed"),
                    "\(applied.errors)"
                )
                #expect(applied.errors.contains("repeat it with --removals"))
            }
        }
    }

    @Test("The commands ask when a release is staged no more and nothing says since when; else the file's time holds")
    func endsStaging() async throws {
        try await PolicyFileFixture.with { fixture in
            try await fixture.binary.run("apply --yes \(try fixture.write(PolicyFileFixture.example))")
            let released = PolicyFileFixture.example.replacing("        staged: true\n", with: "")
            let file = try fixture.write(released)
            let refused = try await fixture.binary.run("plan \(file)")
            #expect(refused.status == 1)
            #expect(
                refused.errors.hasPrefix("Error: \(file):11:9: release 1.2: it is staged no more"),
                "\(refused.errors)"
            )
            let dated = PolicyFileFixture.example
                .replacing("        staged: true\n", with: "        live_at: 2026-03-03T12:00:00Z\n")
            #expect(try await fixture.binary.run("apply --yes \(try fixture.write(dated))").status == 0)
            #expect(try await fixture.binary.run("plan \(file)").status == 0)
        }
    }

    @Test("The commands take steps or a percentage, and change one into the other")
    func changesSteps() async throws {
        try await PolicyFileFixture.with { fixture in
            try await fixture.binary.run("apply --yes \(try fixture.write(PolicyFileFixture.example))")
            let beside = PolicyFileFixture.example.replacing("rollout: 0\n", with: "rollout: 50\n")
            let file = try fixture.write(beside)
            let refused = try await fixture.binary.run("plan \(file)")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("\(file):25:14: rule update-1.2: rollout beside steps"))
            let share = beside.split(separator: "\n", omittingEmptySubsequences: false)
                .filter { !$0.contains("steps:") && !$0.contains("- {at:") }.joined(separator: "\n")
            for (text, counts) in [
                (share, "0 to add, 1 to change, 2 to remove."),
                (PolicyFileFixture.example, "2 to add, 1 to change, 0 to remove."),
            ] {
                let file = try fixture.write(text)
                let plan = try await fixture.binary.run("plan \(file)")
                #expect(plan.output.contains(counts), "\(plan.output)\(plan.errors)")
                #expect(try await fixture.binary.run("apply --yes \(file)").status == 0)
                #expect(try await fixture.binary.run("plan \(file)").status == 0)
            }
        }
    }

    @Test("The commands do what their documentation shows")
    func doesWhatIsDocumented() async throws {
        try await PolicyFileFixture.with { fixture in
            let article = RepositoryFile.url("Documentation/PolicyFile.md")
            let parts = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```yaml\n")
            let example = try #require(parts.dropFirst().first?.components(separatedBy: "```").first)
            let file = try fixture.write(example)
            #expect(try await fixture.binary.run("plan \(file)").status == 2)
            let apply = try await fixture.binary.run("apply --yes \(file)")
            #expect(apply.status == 0, "\(apply.errors)")
            #expect(try await fixture.binary.run("plan \(file)").status == 0)
            let input = try await fixture.database.psql("SELECT count(*) FROM rules; SELECT count(*) FROM releases")
                .output
            #expect(input == "2\n2\n")
        }
    }

    @Test(
        "The commands ask on a terminal before anything is removed, and do as they are told",
        arguments: ["n", "", "y"]
    )
    func asks(answer: String) async throws {
        try await PolicyFileFixture.with { fixture in
            try await fixture.binary.run("apply --yes \(try fixture.write(PolicyFileFixture.example))")
            let file = try fixture.write("versiongate: 1\napps: {}\nrules: {}\n...\n")
            let result = try await Subprocess.run(
                .name("script"),
                arguments: [
                    "--quiet", "--return", "--echo", "never", "--command", "\(BuiltBinary.path) apply \(file)",
                    "/dev/null",
                ],
                environment: fixture.binary.subprocessEnvironment,
                input: .string("\(answer)\n"),
                output: .string(limit: 1 << 20),
                error: .discarded
            )
            #expect(result.standardOutput.contains("  rule update-1.2 ("))
            #expect(result.standardOutput.contains("Do it on"))
            #expect(result.standardOutput.contains("nothing was changed, as the answer was not y") == (answer != "y"))
            #expect(result.terminationStatus == .exited(answer == "y" ? 0 : 1))
            #expect(try await fixture.revision() == (answer == "y" ? 2 : 1))
        }
    }
}
