import Foundation
import TestDatabase
import Testing

@testable import VersionGateCommands

/// What takes a terminal or root; the rest is in `Tests/Cases/commands/context.case`.
@Suite("Contexts", .timeLimit(.minutes(20)))
struct ContextTests {
    @Test("A context names the database of a command in each question and in the prompt of psql", .migratedDatabase)
    func namesADatabase() async throws {
        try await StateFolder.with { folder in
            let directory = "\(folder.path)/versiongate"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let address = TestDatabase.current.url(user: "versiongate_admin")
            try Data("contexts: {prod: {database-url: '\(address)'}}".utf8).write(
                to: URL(fileURLWithPath: "\(directory)/config.yaml")
            )
            let terminal = try await TerminalSession(
                BuiltBinary(environment: ["XDG_CONFIG_HOME": folder.path, "VERSIONGATE_CONTEXT": "prod"])
            )
            defer { terminal.end() }
            _ = try await terminal.run("versiongate app add a")
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

    @Test("The history has the caller of sudo as the operating system's user, where root says so")
    func knowsTheCallerOfSudo() {
        #expect(EditOptions.osUser(["SUDO_USER": "anna"], isRoot: true, userName: "root") == "anna")
        #expect(EditOptions.osUser(["SUDO_USER": ""], isRoot: true, userName: "root") == "root")
        #expect(EditOptions.osUser([:], isRoot: true, userName: "root") == "root")
        #expect(EditOptions.osUser(["SUDO_USER": "anna"], isRoot: false, userName: "carl") == "carl")
    }
}
