import Foundation
import TestDatabase
import TestRandom
import Testing

@Suite("Stories", .whole, .migratedDatabase)
struct StoryTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private static let bundle = "com.example.doto"

    /// Runs a command that has to succeed.
    @discardableResult
    private func run(_ arguments: String...) async throws -> String {
        let result = try await versiongate.run(arguments: arguments)
        try #require(result.status == 0, "\(arguments)\n\(result.errors)")
        return result.output
    }

    private func check(_ members: String..., options: [String] = []) async throws -> String {
        try await versiongate.run(
            arguments: ["check", "--format", "json"] + options + ["bundle=\(Self.bundle)", "platform=ios"] + members
        ).output
    }

    /// The number of the newest change.
    private func newestChange() async throws -> String {
        struct Change: Decodable {
            let id: Int
        }
        let history = try await run("history", "--format", "json", "--limit", "1")
        return String(try #require(try JSONDecoder().decode([Change].self, from: Data(history.utf8)).first).id)
    }

    private static let noMessages = "{\"messages\":[]}\n"

    @Test("By the command line alone a bad version is locked out in stages, watched, and taken back")
    func byTheCommandLine() async throws {
        try await run(
            "app", "add", Self.bundle, "--name", "Doto", "--store-link", "ios=https://apps.apple.com/app/id123456789"
        )
        for version in ["2.3", "2.3.1", "2.3.5"] {
            try await run("release", "add", Self.bundle, version, "--platform", "ios", "--live-at=-30d")
        }
        let added = try await run(
            "rule", "add", "bad-2.3", "--bundle", Self.bundle, "--versions", ">=2.3 <2.3.5", "--lockout", "--title",
            "This version loses data", "--text", "Please update {app}.", "--link", "store"
        )
        #expect(added.contains("Added rule bad-2.3"))
        #expect(added.contains("versions >=2.3 <2.3.5 means:"))
        #expect(try await check("version=2.3.1") == Self.noMessages)
        let disabled = try await run(
            "check", "--explain", "--format", "json", "bundle=\(Self.bundle)", "platform=ios", "version=2.3.1"
        )
        #expect(disabled.contains(#""condition":"enabled","expected":"true","actual":"false""#))

        let counted = try await TestDatabase.current.psql(
            """
            INSERT INTO check_counts (hour, bundle, platform, version, checks, messages, lockouts) VALUES
                (now(), '\(Self.bundle)', 'ios', '2.3.1', 30, 0, 0), (now(), '\(Self.bundle)', 'ios', '2.3.5', 70, 0, 0)
            """,
            user: "versiongate_server"
        )
        try #require(counted.isSuccess, "\(counted.errors)")
        let impact = try await run("impact", "bad-2.3")
        #expect(impact.contains("if enabled (100 %)  30.0 %   0.0 % "), "\(impact)")
        let refused = try await versiongate.run(arguments: ["rule", "enable", "bad-2.3"])
        #expect(refused.status == 1)
        #expect(refused.errors.contains("newly lock out up to 30.0 %"), "\(refused.errors)")

        try await run("rule", "ramp", "bad-2.3", "10%@now", "100%@+1h", "--yes")
        let before = try await check("version=2.3.1", options: ["--at", "+2h"])
        #expect(before == Self.noMessages)
        try await run("rule", "enable", "bad-2.3", "--yes", "--why", "data loss in 2.3")
        let enabling = try await newestChange()

        let lockedOut = try await check("version=2.3.1", options: ["--at", "+2h"])
        #expect(
            lockedOut == """
                {"messages":[{"id":"bad-2.3","title":"This version loses data","text":"Please update Doto.",\
                "link":"https://apps.apple.com/app/id123456789","lockout":true}]}

                """
        )
        for version in ["2.2.9", "2.3.5", "2.4"] {
            #expect(try await check("version=\(version)", options: ["--at", "+2h"]) == Self.noMessages, "\(version)")
        }
        // In the first hour it reaches a tenth; a client without an installation id is not among them.
        #expect(try await check("version=2.3.1") == Self.noMessages)
        #expect(try await run("rule", "list").contains("10 %"))

        let history = try await run("history", "bad-2.3")
        let enabled = try #require(history.split(separator: "\n\n").first)
        #expect(enabled.hasPrefix("\(enabling)  "))
        #expect(enabled.contains("data loss in 2.3"))
        #expect(enabled.contains("enabled: false -> true"))

        let undone = try await run("undo", enabling, "--yes")
        #expect(undone.contains("enabled: true -> false"))
        #expect(try await check("version=2.3.1", options: ["--at", "+2h"]) == before)
        let asItStood = ["--at", "+2h", "--revision", enabling]
        #expect(try await check("version=2.3.1", options: asItStood) == lockedOut)
    }

    @Test("By psql alone the same is done, and history and undo work on what psql did")
    func byPsql() async throws {
        let database = TestDatabase.current
        func psql(_ script: String) async throws -> String {
            let result = try await database.psql(script, user: "versiongate_admin")
            try #require(result.isSuccess, "\(result.errors)")
            return result.output
        }
        let client = #"{"bundle": "com.example.doto", "platform": "ios", "version": "2.3.1"}"#
        let ask = "SELECT id, lockout FROM messages_for('\(client)', now() + interval '2 hours');"
        _ = try await psql(
            """
            INSERT INTO apps (bundle, name) VALUES ('com.example.doto', 'Doto');
            INSERT INTO releases (bundle, platform, version, live_at)
            SELECT 'com.example.doto', 'ios', version, now() - interval '30 days'
              FROM unnest('{2.3,2.3.1,2.3.5}'::text[]) AS version;
            INSERT INTO rules (key, bundle, versions, lockout, title, text)
            VALUES ('bad-2.3', 'com.example.doto', '>=2.3 <2.3.5', true, 'This version loses data', 'Please update.');
            INSERT INTO rollout_steps VALUES ('bad-2.3', now(), 10), ('bad-2.3', now() + interval '1 hour', 100);
            """
        )
        #expect(try await psql(ask).isEmpty)
        _ = try await psql(
            """
            BEGIN;
            SET LOCAL versiongate.why = 'data loss in 2.3';
            UPDATE rules SET enabled = true WHERE key = 'bad-2.3';
            COMMIT;
            """
        )
        #expect(try await psql(ask) == "bad-2.3|t\n")
        #expect(try await psql("SELECT key, rollout FROM active_rules;") == "bad-2.3|10\n")
        #expect(try await psql("SELECT rollout FROM rollout_steps WHERE at > now();") == "100\n")
        #expect(try await check("version=2.3.1", options: ["--at", "+2h"]).contains(#""lockout":true"#))

        let enabling = try await newestChange()
        let history = try await run("history", "bad-2.3", "--limit", "1")
        #expect(history.contains("versiongate_admin  psql  data loss in 2.3"))
        #expect(history.contains("enabled: false -> true"))
        try await run("undo", enabling, "--yes")
        #expect(try await psql(ask).isEmpty)
        #expect(
            try await psql("SELECT undoes, edits FROM history LIMIT 1;")
                == "\(enabling)|rules bad-2.3: enabled true -> false\n"
        )
        #expect(try await check("version=2.3.1", options: ["--at", "+2h"]) == Self.noMessages)
    }
}
