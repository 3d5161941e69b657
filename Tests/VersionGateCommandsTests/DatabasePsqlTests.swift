import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Database psql", .whole, .timeLimit(.minutes(20)))
struct DatabasePsqlTests {
    @Test(
        "versiongate database psql on a terminal answers what is typed, and gives the terminal back at \\q",
        .migratedDatabase
    )
    func worksOnATerminal() async throws {
        let terminal = try await TerminalSession(BuiltBinary(.current))
        defer { terminal.end() }
        try terminal.type("versiongate database psql\n")
        try await terminal.expect("=> ")
        try terminal.type("SELECT 40 + 2 AS answer;\n")
        #expect(try await terminal.expect("(1 row)").contains(" 42\n"))
        try await terminal.expect("=> ")
        try terminal.type("\\q\n")
        try await terminal.expect(TerminalSession.prompt)
        #expect(try await terminal.run("echo back").output == "back\n")
    }

    @Test("versiongate database psql is stopped by Ctrl-C in a statement, and goes on", .migratedDatabase)
    func isInterrupted() async throws {
        let terminal = try await TerminalSession(BuiltBinary(.current))
        defer { terminal.end() }
        try terminal.type("versiongate database psql\n")
        try await terminal.expect("=> ")
        try terminal.type("SELECT pg_sleep(3600);\n")
        let running =
            "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(3600);' AND state = 'active'"
        let observer = try await TestDatabase.current.connect()
        try await Poll.until("the statement to run") { try await observer.query(running).value(as: Int.self) == 1 }
        try terminal.type("\u{3}")
        try await terminal.expect("canceling statement due to user request")
        try await terminal.expect("=> ")
        try terminal.type("SELECT 40 + 2 AS answer;\n")
        try await terminal.expect(" 42\n")
    }

    @Test("versiongate database psql keeps the private PostgreSQL running until it ends, and then lets it stop")
    func keepsThePrivateDatabase() async throws {
        try await StateFolder.with { folder in
            let versiongate = BuiltBinary(stateDirectory: folder.path)
            #expect(try await versiongate.run("app add --private com.example.hello").status == 0)
            let terminal = try await TerminalSession(versiongate)
            defer { terminal.end() }
            try terminal.type("versiongate database psql\n")
            try await terminal.expect("versiongate=> ")
            // What is typed may be shown or not, so it differs from what is printed.
            let lease = "\(folder.path)/postgres/leases.lock"
            try terminal.type("\\! flock --nonblock --exclusive \(lease) true || echo the lease is 'held'\n")
            try await terminal.expect("the lease is held\n")
            try terminal.type("SELECT bundle FROM apps;\n")
            try await terminal.expect(" com.example.hello\n")
            try terminal.type("\\q\n")
            try await terminal.expect(TerminalSession.prompt)
            // A free lease would say less: for a moment it is free before PostgreSQL is told to stop.
            try await Poll.until("PostgreSQL to stop") {
                !FileManager.default.fileExists(atPath: "\(folder.path)/postgres/data/postmaster.pid")
            }
        }
    }

    @Test(
        "versiongate database psql passes on the options of psql, with and without --, and psql's exit status",
        .migratedDatabase
    )
    func passesArgumentsOn() async throws {
        let versiongate = BuiltBinary(.current)
        for arguments in [
            ["-Atc", "SELECT 6 * 7"], ["--", "-Atc", "SELECT 6 * 7"], ["-At", "--command=SELECT 6 * 7"],
        ] {
            let result = try await versiongate.run(arguments: ["database", "psql"] + arguments)
            #expect(result.output == "42\n", "\(arguments): \(result.errors)")
            #expect(result.status == 0)
        }
        #expect(try await versiongate.run(arguments: ["database", "psql", "-c", "nonsense"]).status == 1)
    }

    @Test("versiongate database psql says what to install where there is no psql", .migratedDatabase)
    func saysThatPsqlIsMissing() async throws {
        var variables = BuiltBinary(.current).variables
        variables["PATH"] = "/nowhere"
        let result = try await BuiltBinary(environment: variables).run("database psql")
        #expect(result.status == 1)
        #expect(result.errors.contains("psql is not on PATH; install postgresql-client"), "\(result.errors)")
    }
}
