import Foundation
import TestDatabase
import TestRandom
import Testing

@Suite("Removals", .migratedDatabase, .timeLimit(.minutes(20)))
struct RemovalTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    /// An app with a lockout that reaches half of its checks.
    private func prepare() async throws {
        try await TestDatabase.current.edit(
            "INSERT INTO apps (bundle) VALUES ('a')",
            "INSERT INTO store_links VALUES ('a', 'ios', 'https://example.com')",
            "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2.0', now() - interval '1 day')",
            """
            INSERT INTO rules (key, bundle, title, text, link, versions, lockout, enabled)
            VALUES ('lock', 'a', 'T', 'X', 'store', '<2', true, true), ('idle', 'a', 'T', 'X', 'store', '<2', true, false)
            """
        )
        try await TestDatabase.current.addCounts(
            "(now(), 'a', 'ios', '1.0', 100, 0, 0), (now(), 'a', 'ios', '2.0', 100, 0, 0)"
        )
    }

    /// A command, a row that it shows, and what it says of all of them.
    static let commands: [(line: String, row: String, summary: String)] = [
        ("app remove a", "  rule lock (enabled lockout, app a)\n", "2 rules (1 is an enabled lockout)"),
        (
            "rule remove lock", "  rule lock (enabled lockout, app a)\n",
            "this removes rule lock (enabled lockout, app a)"
        ),
        ("release remove a 2.0", "  release a 2.0 ios", "this removes release a 2.0 ios"),
        ("release withdraw a 2.0", "  release a 2.0 ios", "this withdraws release a 2.0 ios"),
    ]

    @Test(
        "Removals show what goes and whom it reaches, and in a script change nothing without --yes",
        arguments: commands
    )
    func needConsent(_ line: String, _ row: String, _ summary: String) async throws {
        try await prepare()
        let revision = try await TestDatabase.current.revision()
        let refused = try await versiongate.run(line)
        #expect(refused.status == 1, "\(refused.output)")
        #expect(refused.output.contains(row), "\(refused.output)")
        #expect(refused.output.contains(#/locked out +50\.0 % +0\.0 %/#), "\(refused.output)")
        #expect(refused.errors.contains(summary), "\(refused.errors)")
        #expect(refused.errors.contains("; nothing was changed on "), "\(refused.errors)")
        #expect(refused.errors.contains("; repeat it with --yes if it is meant"))
        #expect(try await TestDatabase.current.revision() == revision)
        let made = try await versiongate.run("\(line) --yes")
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains(#/locked out +50\.0 % +0\.0 %/#), "\(made.output)")
        #expect(try await TestDatabase.current.revision() != revision)
    }

    @Test("Removals are asked about on a terminal, once, by app and database", arguments: Trials.some(commands))
    func ask(_ line: String, _ row: String, _ summary: String) async throws {
        try await prepare()
        let revision = try await TestDatabase.current.revision()
        let terminal = try await TerminalSession(versiongate)
        defer { terminal.end() }
        try terminal.type("versiongate \(line)\n")
        let shown = try await terminal.expect("Do it on ")
        #expect(shown.contains(row), "\(shown)")
        #expect(shown.contains(summary.replacing("this ", with: "")), "\(shown)")
        let name = try await TestDatabase.current.psql("SELECT current_database()").output.trimmingCharacters(
            in: .newlines
        )
        #expect(try await terminal.expect("? [y/N] ").hasSuffix("/\(name)"))
        try terminal.type("n\n")
        try await terminal.expect("nothing was changed, as the answer was not y")
        #expect(try await TestDatabase.current.revision() == revision)
        try terminal.type("versiongate \(line)\n")
        try await terminal.expect("? [y/N] ")
        try terminal.type("y\n")
        #expect(!(try await terminal.expect("To take it back").contains("[y/N]")))
    }

    @Test("Removals by a policy file show their impact, in plan and in apply")
    func policyFile() async throws {
        try await prepare()
        let file = TestDatabase.freshFolder() + ".yaml"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try Data("versiongate: 1\napps: {}\nrules: {}\n...\n".utf8).write(to: URL(fileURLWithPath: file))
        for command in ["plan", "apply"] {
            let result = try await versiongate.run("\(command) \(file)")
            #expect(result.status == (command == "plan" ? 2 : 1), "\(result.errors)")
            #expect(result.output.contains(#/locked out +50\.0 % +0\.0 %/#), "\(command): \(result.output)")
        }
    }

    @Test("Removals of nothing that is in force are asked about as well, and can be undone")
    func idleRule() async throws {
        try await prepare()
        #expect(try await versiongate.run("rule remove idle").status == 1)
        let removed = try await versiongate.run("rule remove idle --yes")
        #expect(removed.status == 0, "\(removed.errors)")
        let change = try await TestDatabase.current.revision()
        #expect(try await versiongate.run("undo \(change) --yes").status == 0)
        #expect(try await versiongate.run("rule show idle").status == 0)
    }
}
