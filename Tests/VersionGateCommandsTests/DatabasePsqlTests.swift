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
            try await versiongate.succeed("app add --private com.example.hello")
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
}
