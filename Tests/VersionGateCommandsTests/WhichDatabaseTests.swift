import Foundation
import TestRandom
import Testing

/// What takes a terminal; the rest is in `Tests/Cases/commands/database.case`.
@Suite("Database choice", .whole, .timeLimit(.minutes(20)))
struct WhichDatabaseTests {
    @Test("The database of a command is a private one after a question on a terminal alone")
    func asksBeforeItMakesOne() async throws {
        try await StateFolder.with { folder in
            let terminal = try await TerminalSession(BuiltBinary(stateDirectory: folder.path))
            defer { terminal.end() }
            try terminal.type("versiongate app add com.example.hello\n")
            try await terminal.expect("there is no private PostgreSQL in \(folder.path) yet. Make one there? [y/N] ")
            try terminal.type("n\n")
            try await terminal.expect("Error: nothing was made; name a database with DATABASE_URL")
            try await terminal.expect(TerminalSession.prompt)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            try terminal.type("versiongate app add com.example.hello\n")
            try await terminal.expect("[y/N] ")
            try terminal.type("y\n")
            try await terminal.expect("Edited private PostgreSQL in \(folder.path).")
            try await terminal.expect(TerminalSession.prompt)
        }
    }
}
