import Foundation
import TestDatabase
import Testing

@testable import VersionGateCommands

@Suite("Contexts", .timeLimit(.minutes(20)))
struct ContextTests {
    /// A configuration file in a folder of its own, and the command line that reads it.
    private static func with(_ text: String, _ body: (BuiltBinary, String) async throws -> Void) async throws {
        try await StateFolder.with { folder in
            let file = "\(folder.path)/versiongate/config.yaml"
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/versiongate",
                withIntermediateDirectories: true
            )
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            try await body(BuiltBinary(environment: ["XDG_CONFIG_HOME": folder.path]), file)
        }
    }

    private static func file(_ address: String) -> String {
        """
        contexts:
          prod:
            database-url: \(address)
          staging:
            database-url: postgresql://anna@127.0.0.1:1/staging
        """
    }

    @Test(
        "A context names the database of a command, in each edit, each question and the prompt of psql",
        .migratedDatabase
    )
    func namesADatabase() async throws {
        try await Self.with(Self.file(TestDatabase.current.url(user: "versiongate_admin"))) { versiongate, _ in
            let added = try await versiongate.run("app add a --context prod")
            #expect(added.status == 0, "\(added.errors)")
            #expect(added.output.contains("\nEdited prod ("), "\(added.output)")
            #expect(
                try await versiongate.run("app remove a --context prod").errors.contains(
                    "nothing was changed on prod ("
                )
            )
            let chosen = BuiltBinary(environment: versiongate.variables.merging(["VERSIONGATE_CONTEXT": "prod"]) { $1 })
            #expect(try await chosen.run("app list").output.contains("\na  "))
            #expect(try await chosen.run("app list --context staging").errors.contains("database cannot be reached"))
            #expect(try await chosen.run("app list --database-url postgresql://127.0.0.1:1/x").status == 1)

            let terminal = try await TerminalSession(chosen)
            defer { terminal.end() }
            try terminal.type("versiongate app remove a\n")
            try await terminal.expect("Do it on prod (")
            try terminal.type("n\n")
            try await terminal.expect(TerminalSession.prompt)
            try terminal.type("versiongate database psql\n")
            try await terminal.expect("prod \(TestDatabase.current.name)=> ")
            try terminal.type("\\q\n")
            try await terminal.expect(TerminalSession.prompt)
        }
    }

    @Test("A context is one of two names of a database at most: by options an error, by variables too")
    func isNotAmbiguous() async throws {
        try await Self.with(Self.file("postgresql://127.0.0.1:1/prod")) { versiongate, file in
            let refusals = [
                ([:], "--context prod --database-url postgresql://x/y", 64, "--context and --database-url name two"),
                ([:], "--context prod --private", 64, "--context and --private name two databases"),
                ([:], "--context prdo", 1, "there is no context prdo in \(file); there are prod, staging"),
                (["VERSIONGATE_CONTEXT": ""], "", 1, "VERSIONGATE_CONTEXT is set but empty"),
                (
                    ["VERSIONGATE_CONTEXT": "prod", "DATABASE_URL": "postgresql://127.0.0.1:1/x"], "", 1,
                    "DATABASE_URL and VERSIONGATE_CONTEXT both name a database; unset one of them"
                ),
                (["DATABASE_URL": "postgresql://127.0.0.1:1/x"], "--context prod", 1, "port 1 failed"),
            ]
            for (variables, options, status, message) in refusals {
                let binary = BuiltBinary(environment: versiongate.variables.merging(variables) { $1 })
                let result = try await binary.run("rule list \(options)")
                #expect(result.status == status, "\(options): \(result.errors)")
                #expect(result.errors.contains(message), "\(variables) \(options): \(result.errors)")
            }
            let empty = try await versiongate.run(arguments: ["rule", "list", "--context", ""])
            #expect(empty.status == 64)
            #expect(empty.errors.contains("--context is empty; give the name of a context"))
        }
    }

    /// Texts of a configuration file, with where the fault is and what it is.
    static let faults = [
        ("contexts: {", "", "expected"),
        ("context: {}", ":1:1", "the key contexts is missing"),
        ("contexts: {}\nother: 1", ":2:1", "unknown key other"),
        ("contexts: [a]", ":1:11", "contexts is not a map of names"),
        ("contexts:\n  a b: {database-url: x}", ":2:3", "the name of a context consists of ASCII letters"),
        ("contexts:\n  a: {}", ":2:6", "the context a has no database-url"),
        ("contexts:\n  a: {url: x}", ":2:7", "unknown key url; the one key of a context is database-url"),
        ("contexts:\n  a: {database-url: 'postgresql://[x'}", ":2:6", "the database-url of a cannot be read"),
        (
            "contexts:\n  a: {database-url: 'postgresql://u:geheim@h/d'}", ":2:6",
            "the database-url of a has a password; put it into ~/.pgpass"
        ),
    ]

    @Test(
        "A context that cannot be read is refused with its place in the file, without its password",
        arguments: faults
    )
    func isRefused(text: String, place: String, message: String) async throws {
        try await Self.with(text) { versiongate, file in
            let result = try await versiongate.run("rule list --context a")
            #expect(result.status == 1)
            #expect(result.errors.contains("\(file)\(place): "), "\(result.errors)")
            #expect(result.errors.contains(message), "\(result.errors)")
            #expect(!result.errors.contains("geheim"))
        }
    }

    @Test("Contexts are completed")
    func areCompleted() async throws {
        try await Self.with(Self.file("postgresql://anna@db1/versiongate")) { versiongate, _ in
            let completed = try await versiongate.run(arguments: [
                "---completion", "rule", "list", "--", "--context", "3", "0", "", "versiongate", "rule", "list",
                "--context",
            ])
            #expect(completed.output.contains("prod"), "\(completed.output)\(completed.errors)")
        }
    }

    @Test("The history has the caller of sudo as the operating system's user, where root says so")
    func knowsTheCallerOfSudo() {
        #expect(EditOptions.osUser(["SUDO_USER": "anna"], isRoot: true, userName: "root") == "anna")
        #expect(EditOptions.osUser(["SUDO_USER": ""], isRoot: true, userName: "root") == "root")
        #expect(EditOptions.osUser([:], isRoot: true, userName: "root") == "root")
        #expect(EditOptions.osUser(["SUDO_USER": "anna"], isRoot: false, userName: "carl") == "carl")
    }
}
