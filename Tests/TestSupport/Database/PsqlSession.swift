import Foundation
import Synchronization
import TestSystem

/// A psql that stays open, as that of somebody who thinks between two statements.
package final class PsqlSession: Sendable {
    private let process: Mutex<Process>
    private let ended = DispatchSemaphore(value: 0)
    private let input = Pipe()
    private let output = Pipe()
    private let sent = Mutex(0)
    private let backend = Mutex<Int32?>(nil)

    /// Starts psql on a database, as a role.
    package init(_ database: TestDatabase, user: String = "versiongate_admin") throws {
        let psql = Process()
        psql.executableURL = URL(fileURLWithPath: database.server.psql)
        psql.arguments = [
            "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--field-separator= | ", "-v",
            "SHOW_CONTEXT=never", database.url(user: user),
        ]
        // Times are shown alike wherever the tests run. What waits for a lock of another step in vain is ended.
        psql.environment = ProcessInfo.processInfo.environment.merging(
            ["PGTZ": "UTC", "PGOPTIONS": "-c statement_timeout=60s"]
        ) { $1 }
        psql.standardInput = input
        psql.standardOutput = output
        psql.standardError = output
        psql.terminationHandler = { [ended] _ in ended.signal() }
        try psql.run()
        process = Mutex(psql)
        let answer = try ask("SELECT pg_backend_pid();")
        backend.withLock { $0 = Int32(answer.dropLast()) }
    }

    /// Its process in the server.
    var processID: Int32? { backend.withLock(\.self) }

    /// Runs statements, and returns when they are done.
    ///
    /// - Throws: an error when one fails, which ends psql.
    package func run(_ statements: String) throws {
        _ = try ask("\\set ON_ERROR_STOP on\n\(statements)")
    }

    /// Runs statements, the last of which needs no semicolon, and returns what psql prints: rows without headings, their
    /// columns separated by ` | `, warnings and errors.
    package func answer(_ statements: String) async throws -> String {
        let isWhole = statements.hasSuffix(";") || statements.hasPrefix("\\") || statements.hasSuffix("\\gexec")
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try self.ask(isWhole ? statements : statements + ";") })
            }
        }
    }

    private func ask(_ statements: String) throws -> String {
        let end = sent.withLock { sent in
            sent += 1
            return "done-\(sent)\n"
        }
        try input.fileHandleForWriting.write(contentsOf: Data("\(statements)\n\\echo \(end)".utf8))
        var answer = Data()
        while !answer.suffix(end.utf8.count).elementsEqual(end.utf8) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else {
                throw CompanionError("psql ended at: \(statements)\n\(String(decoding: answer, as: UTF8.self))")
            }
            answer += data
        }
        return String(decoding: answer.dropLast(end.utf8.count), as: UTF8.self)
    }

    /// Ends psql; what was not committed is rolled back.
    package func end() throws {
        try hangUp()
        ended.wait()
    }

    /// Lets psql end when it has done what it was given.
    func hangUp() throws {
        try input.fileHandleForWriting.close()
    }
}
