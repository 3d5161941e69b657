import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@testable import VersionGateCommands

@Suite("Command line")
struct CommandLineTests {
    @Test("The command line says of every command what it does, and shows an example")
    func helps() async throws {
        for leaf in try await CommandTree.read().all {
            let name = "versiongate " + leaf.testDescription
            #expect(leaf.command.abstract?.isEmpty == false, "\(name) has no abstract")
            #expect(leaf.command.discussion?.contains("Example") == true, "\(name) has no example")
            if !leaf.path.isEmpty {
                #expect(leaf.command.discussion?.contains("versiongate") == true, "\(name)'s example does not call it")
            }
            for argument in leaf.command.arguments ?? [] where argument.shouldDisplay != false {
                let what = argument.preferredName?.name ?? argument.valueName ?? ""
                #expect(argument.abstract?.isEmpty == false, "\(name): \(what) is not explained")
            }
        }
    }

    @Test("The help breaks no paragraph, which is wrapped when it is shown, and no example from 60 columns on")
    func wrapsHelpOnce() async throws {
        for leaf in try await CommandTree.read().all {
            let lines = (leaf.command.discussion ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            for (line, next) in zip(lines, lines.dropFirst()) where !line.isEmpty && !line.hasPrefix("  ") {
                #expect(next.isEmpty || next.hasPrefix("  "), "versiongate \(leaf.testDescription): \(line)")
            }
            for example in lines where example.hasPrefix("  ") {
                #expect(example.count < 60, "versiongate \(leaf.testDescription): \(example)")
            }
        }
    }

    @Test(
        "The command line takes --format wherever something is listed or shown, and --why and --yes wherever something is edited"
    )
    func isConsistent() async throws {
        let leaves = try await CommandTree.read().leaves
        for leaf in leaves {
            let verb = leaf.path.last ?? ""
            // What `feed show` prints has the format of the feed.
            if ["list", "show", "status", "history", "check", "impact", "stats", "plan", "lint", "reach"].contains(
                verb
            ),
                leaf.path != ["feed", "show"]
            {
                #expect(leaf.options.contains("format"), "\(leaf.testDescription)")
            }
            // Users and tokens are no part of the policy, so the history does not have them.
            if !["user", "token"].contains(leaf.path.first),
                [
                    "add", "edit", "remove", "pause", "resume", "enable", "disable", "rollout", "ramp", "hold", "block",
                    "undo",
                    "apply",
                ].contains(verb)
            {
                #expect(leaf.options.isSuperset(of: ["why", "yes", "dry-run"]), "\(leaf.testDescription)")
            }
            if leaf.options.contains("database-url") {
                #expect(leaf.options.isSuperset(of: ["state-dir", "private"]), "\(leaf.testDescription)")
            }
        }
        // It is refused with the command that sets it.
        let edit = leaves.first { $0.path == ["rule", "edit"] }?.command.arguments?.filter { $0.shouldDisplay != false }
        #expect(edit?.contains { $0.preferredName?.name == "rollout" } == false)
        #expect(leaves.count >= 30)
    }

    @Test("The history has the caller of sudo as the operating system's user, where root says so")
    func knowsTheCallerOfSudo() {
        #expect(EditOptions.osUser(["SUDO_USER": "anna"], isRoot: true, userName: "root") == "anna")
        #expect(EditOptions.osUser(["SUDO_USER": ""], isRoot: true, userName: "root") == "root")
        #expect(EditOptions.osUser([:], isRoot: true, userName: "root") == "root")
        #expect(EditOptions.osUser(["SUDO_USER": "anna"], isRoot: false, userName: "carl") == "carl")
    }

    @Test("A command is what was typed, also where a preloaded library has moved the environment")
    func isPreloaded() async throws {
        try await StateFolder.with { folder in
            let (source, library) = ("\(folder.path)/agent.c", "\(folder.path)/agent.so")
            try """
            #include <stdio.h>
            #include <stdlib.h>
            __attribute__((constructor)) static void move_the_environment(void) {
                for (int number = 0; number < 100; number++) {
                    char name[32];
                    snprintf(name, sizeof name, "AGENT_%d", number);
                    setenv(name, "x", 1);
                }
            }
            """.write(toFile: source, atomically: true, encoding: .utf8)
            let compiled = try await BuiltBinary(environment: [:]).shell(
                "clang -shared -fPIC -o '\(library)' '\(source)'"
            )
            try #require(compiled.status == 0, "\(compiled.errors)")
            for line in ["serve --port 99999", "undo x"] {
                let plain = try await BuiltBinary(environment: [:]).run(line)
                let preloaded = try await BuiltBinary(environment: ["LD_PRELOAD": library]).run(line)
                #expect(plain.status == 64)
                #expect(preloaded.status == plain.status && preloaded.errors == plain.errors, "\(preloaded)")
            }
        }
    }

    @Test(
        "The command line says of every command that the database is away, how to name it, and nothing of its password"
    )
    func saysThatTheDatabaseIsAway() async throws {
        let away = BuiltBinary(environment: ["DATABASE_URL": "postgresql://u:geheim@127.0.0.1:1/x"])
        for leaf in try await CommandTree.read().leaves where Self.needsDatabase(leaf) {
            let result = try await away.run(arguments: try CommandSample.arguments(for: leaf))
            #expect(result.status == 1, "\(leaf.testDescription): \(result.errors)")
            #expect(result.errors.contains("database cannot be reached"), "\(leaf.testDescription): \(result.errors)")
            #expect(result.errors.contains("DATABASE_URL"), "\(leaf.testDescription): \(result.errors)")
            #expect(!result.errors.contains("geheim"), "\(leaf.testDescription)")
        }
    }

    @Test(
        "The command line says of every command that the schema is missing or older, and how to bring it up to date",
        .database
    )
    func saysThatTheSchemaIsOlder() async throws {
        let database = TestDatabase.current
        let owner = BuiltBinary(environment: ["DATABASE_URL": database.url()])
        let leaves = try await CommandTree.read().leaves.filter(Self.needsSchema)
        for leaf in leaves {
            let result = try await owner.run(arguments: try CommandSample.arguments(for: leaf))
            #expect(result.status == 1, "\(leaf.testDescription): \(result.output)")
            #expect(result.errors.contains("`versiongate migrate`"), "\(leaf.testDescription): \(result.errors)")
        }
        #expect(try await owner.succeed("migrate --status --format json").contains("pending"))
        #expect(try await owner.succeed("migrate").contains("Applied 0001"))
        #expect(try await owner.succeed("migrate") == "The schema is up to date.\n")
        #expect(try await !owner.succeed("migrate --status").contains("pending"))
        let connection = try await database.connect()
        try await connection.execute(
            "DELETE FROM versiongate_internal.schema_migrations WHERE name = (SELECT max(name) FROM versiongate_internal.schema_migrations)"
        )
        for leaf in leaves where leaf.path != ["check"] {
            let result = try await owner.run(arguments: try CommandSample.arguments(for: leaf))
            #expect(result.status == 1, "\(leaf.testDescription): \(result.output)")
            #expect(result.errors.contains("older than this binary"), "\(leaf.testDescription): \(result.errors)")
            #expect(result.errors.contains("`versiongate migrate`"), "\(leaf.testDescription): \(result.errors)")
        }
    }

    @Test("The command line edits nothing on a newer schema, and says which versiongate to use", .migratedDatabase)
    func refusesToEditANewerSchema() async throws {
        let database = TestDatabase.current
        let owner = BuiltBinary(environment: ["DATABASE_URL": database.url()])
        let connection = try await database.connect()
        try await connection.execute(
            "INSERT INTO versiongate_internal.schema_migrations (name, checksum) VALUES ('9999_future', 'x')"
        )
        for leaf in try await CommandTree.read().leaves
        where Self.needsSchema(leaf) && leaf.options.contains("why") {
            let result = try await owner.run(arguments: try CommandSample.arguments(for: leaf))
            #expect(result.status == 1, "\(leaf.testDescription): \(result.output)")
            #expect(result.errors.contains("9999_future"), "\(leaf.testDescription): \(result.errors)")
            #expect(result.errors.contains("use the newer versiongate"), "\(leaf.testDescription): \(result.errors)")
        }
        #expect(try await connection.query("SELECT count(*) FROM changes").value(as: Int.self) == 0)
    }

    /// Values of options that do not take any text.
    private static let values = [
        "percent": "5", "time": "2026-01-01T00:00:00Z", "revision|time": "1", "number": "1", "limit": "1",
        "change": "1",
        "days": "1", "duration": "1h", "country": "JP", "role": "viewer", "format": "json", "field": "note",
        "name=value": "a=b", "platform=url": "ios=https://a.example", "url": "https://a.example",
    ]

    @Test(
        "The command line refuses an option that takes one value and is given twice, and takes others as often as they are"
    )
    func takesOneValue() async throws {
        let away = BuiltBinary.withoutDatabase()
        var seen: Set<String> = []
        // The settings of a server are judged as a whole; others take one of several options.
        let others = [["serve"], ["release", "notes"], ["undo"]]
        for leaf in try await CommandTree.read().leaves where !others.contains(leaf.path) {
            for argument in leaf.command.arguments ?? []
            where argument.kind == "option" && argument.shouldDisplay != false {
                let name = "--\(argument.preferredName?.name ?? "")"
                guard seen.insert(name).inserted else { continue }
                let value = Self.values[argument.valueName ?? ""] ?? "x"
                let words = try CommandSample.arguments(for: leaf) + [name, value, "\(name)=\(value)"]
                let result = try await away.run(arguments: words)
                let isRefused = result.status == 64 && result.errors.contains("\(name) is given twice, with ")
                #expect(isRefused != argument.isRepeating, "\(words): \(result)")
            }
        }
        #expect(seen.count > 40)
    }

    private static func needsDatabase(_ leaf: CommandTree.Leaf) -> Bool {
        leaf.options.contains("database-url") && leaf.path != ["serve"] && leaf.path != ["database", "url"]
            && leaf.path != ["database", "psql"]
    }

    private static func needsSchema(_ leaf: CommandTree.Leaf) -> Bool {
        needsDatabase(leaf) && leaf.path != ["migrate"]
    }
}
