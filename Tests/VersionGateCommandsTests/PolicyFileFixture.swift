import Foundation
import Postgres
import Subprocess
import SystemPackage
import TestDatabase
import TestSystem

/// Policy files in a folder of the test, and the commands that read and write them.
struct PolicyFileFixture: Sendable {
    let folder: URL
    let database: TestDatabase
    var binary: BuiltBinary { BuiltBinary(database) }

    /// An app with a release and two rules.
    static let example = """
        versiongate: 1
        apps:
          com.example.doto:
            name: Doto
            store_links:
              ios: https://example.com/ios
            releases:
              - version: "1.2"
                platform: ios
                live_at: 2026-03-01T12:00:00Z
              - version: "1.2"
                platform: android
                staged: true
        rules:
          bad-1.1:
            bundle: com.example.doto
            enabled: true
            versions: ">=1.1 <1.1.5"
            title: Please update
            text: This version loses data.
            lockout: true
          update-1.2:
            bundle: com.example.doto
            target: "1.2"
            rollout: 0
            steps:
              - {at: 2026-03-01T12:00:00Z, rollout: 5}
              - {at: 2026-03-02T12:00:00Z, rollout: 100}
            title: Please update
            text: "{app} {target} is there."
            texts:
              de: {title: Bitte aktualisieren, text: "{app} {target} ist da."}
        ...

        """

    /// Runs `body` with a fresh folder, on the database of the test.
    static func with(_ body: (PolicyFileFixture) async throws -> Void) async throws {
        let folder = URL(fileURLWithPath: TestDatabase.freshFolder())
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(PolicyFileFixture(folder: folder, database: .current))
    }

    /// Writes a file and gives its path.
    func write(_ text: String, to name: String = "policy.yaml") throws -> String {
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    /// What export writes, without the comments at its beginning.
    func exported() async throws -> String {
        let result = try await binary.run("export")
        guard result.status == 0 else { throw PolicyFileFixtureError.failed(result.errors) }
        return result.output.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("#") }
            .joined(separator: "\n")
    }

    /// The number of the newest change.
    func revision() async throws -> Int64 {
        try await database.revision()
    }

    /// Runs a command and calls `body` while it runs.
    func run(_ arguments: [String], during body: (Int32) async throws -> Void) async throws -> BuiltBinary.Result {
        let result = try await Subprocess.run(
            .path(FilePath(BuiltBinary.path)), arguments: Arguments(arguments),
            environment: binary.subprocessEnvironment, input: .none, output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        ) { execution in
            try await body(execution.processIdentifier.value)
        }
        let status: Int = if case .exited(let status) = result.terminationStatus { Int(status) } else { -1 }
        return BuiltBinary.Result(status: status, output: result.standardOutput, errors: result.standardError)
    }

    /// Asks the database again and again until it says true.
    func wait(_ connection: PostgresConnection, until condition: String) async throws {
        try await Poll.until(condition) { try await connection.query("SELECT \(condition)").value(as: Bool.self) }
    }

    /// Whether a command waits for a lock.
    static let commandWaits = """
        EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
            AND usename = 'versiongate_admin' AND application_name = 'versiongate' AND wait_event_type = 'Lock')
        """

    /// Whether a command is connected.
    static let commandIsConnected = """
        EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
            AND usename = 'versiongate_admin' AND application_name = 'versiongate')
        """
}

/// A policy file test could not do what it needs.
enum PolicyFileFixtureError: Error {
    case failed(String)
}
