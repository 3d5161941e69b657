import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Runbook", .whole, .migratedDatabase, .timeLimit(.minutes(20)))
struct RunbookTests {
    private static let page = "Documentation/Runbook.md"

    /// What the page says that there is: an app with a bad version, and a rule for every reason to reach nobody.
    private static let policy = [
        """
        INSERT INTO apps (bundle, paused) VALUES ('com.example.doto', false), ('com.example.shop', true),
            ('com.example.notes', false), ('com.example.final', false), ('com.example.lock', false);
        INSERT INTO store_links SELECT bundle, 'ios', 'https://example.com' FROM apps;
        INSERT INTO releases (bundle, platform, version, min_os, staged, live_at) VALUES
            ('com.example.doto', 'ios', '1.1', NULL, false, now() - interval '2 days'),
            ('com.example.doto', 'ios', '1.2', NULL, false, now() - interval '1 day'),
            ('com.example.notes', 'android', '2.0', NULL, true, NULL),
            ('com.example.notes', 'ios', '2.0', '15', false, now() - interval '1 day'),
            ('com.example.lock', 'ios', '1.2', '15', false, now() - interval '1 day');
        """,
        """
        INSERT INTO rules (key, bundle, enabled, title, text, position, versions, platforms, target, rollout, final, lockout,
            lockout_without_update, starts_at, ends_at, link) VALUES
            ('draft', 'com.example.doto', false, 't', 'x', 0, NULL, NULL, NULL, 100, false, false, false, NULL, NULL, NULL),
            ('later', 'com.example.doto', true, 't', 'x', 0, NULL, NULL, NULL, 100, false, false, false, '2099-01-01Z', NULL, NULL),
            ('over', 'com.example.doto', true, 't', 'x', 0, NULL, NULL, NULL, 100, false, false, false, NULL, '2026-01-01Z', NULL),
            ('shop-news', 'com.example.shop', true, 't', 'x', 0, NULL, NULL, NULL, 100, false, false, false, NULL, NULL, NULL),
            ('update-1.3', 'com.example.doto', true, 't', 'x', 0, NULL, NULL, '1.3', 100, false, false, false, NULL, NULL, NULL),
            ('tenth', 'com.example.doto', true, 't', 'x', 0, NULL, NULL, NULL, 0, false, false, false, NULL, NULL, NULL),
            ('old-versions', 'com.example.doto', true, 't', 'x', 0, '<1.2', '{ios}', NULL, 100, false, false, false, NULL, NULL, NULL),
            ('notes-2.0', 'com.example.notes', true, 't', 'x', 0, NULL, NULL, '2.0', 100, false, false, false, NULL, NULL, NULL),
            ('first', 'com.example.final', true, 't', 'x', -1, NULL, NULL, NULL, 100, true, false, false, NULL, NULL, NULL),
            ('second', 'com.example.final', true, 't', 'x', 0, NULL, NULL, NULL, 100, false, false, false, NULL, NULL, NULL),
            ('lock-1.1', 'com.example.lock', true, 't', 'x', 0, '=1.1', NULL, NULL, 100, false, true, false, NULL, NULL, 'store'),
            ('braked', 'com.example.lock', true, 't', 'x', 0, '=0.9', NULL, NULL, 100, false, true, false, NULL, NULL, 'store'),
            ('blown', 'com.example.lock', true, 't', 'x', 0, '=1.0', NULL, NULL, 100, false, true, false, NULL, NULL, 'store'),
            ('maintenance', NULL, true, 't', 'x', 0, NULL, NULL, NULL, 100, false, false, false, NULL, NULL, NULL)
        """,
    ]

    private static let counts = """
        (now(), 'com.example.doto', 'ios', '1.1', 600, 0, 0), (now(), 'com.example.doto', 'ios', '1.2', 300, 0, 0),
        (now(), NULL, NULL, NULL, 5, 0, 0)
        """

    /// A reason why a rule reaches nobody, as a row of the page has it.
    private struct Reason {
        let name: String
        let command: String
        let shown: String
        /// The first command of the cure, if it has one.
        let cure: String?
    }

    private static func reasons() throws -> [Reason] {
        let text = try String(contentsOf: RepositoryFile.url(page), encoding: .utf8)
        let section = try #require(
            text.components(separatedBy: "\n## ").first { $0.hasPrefix("My rule reaches nobody") }
        )
        return section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2).compactMap { line in
            let cells = line.components(separatedBy: " | ")
            guard cells.count == 4 else { return nil }
            let codes = cells.map {
                $0.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
            }
            return Reason(
                name: cells[0], command: codes[1].first ?? "", shown: codes[2].first ?? "",
                cure: codes[3].first { $0.hasPrefix("versiongate ") }
            )
        }
    }

    @Test("The runbook has commands that work in its order, and shows each reason why a rule reaches nobody")
    func isTrue() async throws {
        let database = TestDatabase.current
        try await database.edit(Self.policy)
        let owner = try await database.connect()
        try await owner.execute("UPDATE changes SET at = at - interval '1 day'")
        try await database.addCounts(Self.counts)
        let versiongate = BuiltBinary(database)
        let serving = BuiltBinary(environment: ["DATABASE_URL": database.url(user: "versiongate_server")])
        let folder = TestDatabase.freshFolder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let brake = "\(folder)/brake"
        try await ServingBinary.run(serving, arguments: ["--count-interval", "0", "--brake-file", brake]) { server in
            @Sendable func run(_ commands: String) async throws -> BuiltBinary.Result {
                let here = commands.replacing("http://localhost:8080", with: server.publicURL)
                    .replacing("http://localhost:9090", with: server.managementURL)
                return try await versiongate.shell(
                    "set -eo pipefail; versiongate() { \"$VERSIONGATE\" \"$@\"; }; cd \(folder)\n\(here)"
                )
            }
            let blocks = try MarkdownBlock.all(in: Self.page).filter { $0.language == "sh" }
            #expect(blocks.count >= 15)
            for block in blocks {
                let result = try await run(block.text)
                #expect(result.status == 0, "\(block.text)\n\(result.output)\n\(result.errors)")
            }
            // What the commands above undid.
            try await owner.execute("UPDATE rules SET fuse = 5, enabled = true, lockout = true WHERE key = 'blown'")
            try await owner.execute(
                """
                INSERT INTO lockout_counts
                SELECT 'blown', 'com.example.lock', now(), 1000, 900, revision FROM policy_revision
                """
            )
            try await owner.execute("SELECT blow_fuses()")
            let brakeRole = try await database.connect(user: "versiongate_brake")
            try await brakeRole.execute("SELECT brake_rule('braked', 'disable', 'incident')")
            let reasons = try Self.reasons()
            #expect(reasons.count >= 18)
            try "".write(toFile: brake, atomically: true, encoding: .utf8)
            try await Poll.until("that status says brake") {
                try await run("versiongate status").output.contains("Brake:")
            }
            for reason in reasons {
                let result = try await run(reason.command)
                #expect(result.status == 0, "\(reason.name): \(result.errors)")
                let output = result.output.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
                #expect(!reason.shown.isEmpty && output.contains(reason.shown), "\(reason.name): \(result.output)")
                guard let cure = reason.cure else { continue }
                let cured = try await run(cure)
                #expect(cured.status == 0, "\(reason.name): \(cured.errors)")
                guard cure.contains("--yes") else { continue }
                let after = try await run(reason.command).output.split(separator: " ").joined(separator: " ")
                #expect(!after.contains(reason.shown), "\(reason.name): \(cure): \(after)")
            }
        }
    }

    @Test("The runbook is the way back: what was blocked by its first command is free after its undo")
    func wayBack() async throws {
        try await TestDatabase.current.edit(Array(Self.policy.prefix(1)))
        try await TestDatabase.current.addCounts(Self.counts)
        let versiongate = BuiltBinary(.current)
        let commands = try MarkdownBlock.all(in: Self.page).filter { $0.language == "sh" }.flatMap {
            $0.text.split(separator: "\n")
        }
        let block = try #require(commands.first { $0.hasPrefix("versiongate block") })
        let undo = try #require(commands.first { $0.hasPrefix("versiongate undo") })
        let check = "check --format json bundle=com.example.doto version=1.1 platform=ios os=17"
        for (command, isLocked) in [(block, true), (undo, false)] {
            let result = try await versiongate.shell("\"$VERSIONGATE\" \(command.dropFirst("versiongate ".count))")
            #expect(result.status == 0, "\(result.errors)")
            #expect(try await versiongate.run(check).output.contains(#""lockout":true"#) == isLocked)
        }
    }
}
