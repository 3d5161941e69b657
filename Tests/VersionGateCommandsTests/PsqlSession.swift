import Foundation
import PrivatePostgres
import TestDatabase

/// A psql that stays open, as that of somebody who thinks between two statements.
final class PsqlSession {
    private let process = Process()
    private let ended = DispatchSemaphore(value: 0)
    private let input = Pipe()
    private let output = Pipe()
    private var sent = 0

    /// Starts psql on a database, as a role.
    init(_ database: TestDatabase, user: String = "versiongate_admin") throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "-v", "ON_ERROR_STOP=1",
            database.url(user: user),
        ]
        process.standardInput = input
        process.standardOutput = output
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
    }

    /// Runs statements, and returns when they are done.
    ///
    /// - Throws: an error when one fails, which ends psql.
    func run(_ statements: String) throws {
        sent += 1
        let end = "done-\(sent)"
        try input.fileHandleForWriting.write(contentsOf: Data("\(statements)\n\\echo \(end)\n".utf8))
        var answer = ""
        while !answer.contains(end) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw PolicyFileFixtureError.failed("psql ended at: \(statements)") }
            answer += String(decoding: data, as: UTF8.self)
        }
    }

    /// Ends psql; what was not committed is rolled back.
    func end() throws {
        try input.fileHandleForWriting.close()
        ended.wait()
    }
}
