// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import Foundation
import Postgres

/// Runs psql on the terminal of this command.
enum Psql {
    /// Runs psql and waits for its end.
    ///
    /// - Returns: Its exit status.
    static func run(_ configuration: PostgresConfiguration, _ arguments: [String]) async throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["psql"] + arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(try configuration.environment()) { $1 }
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                continuation.resume(
                    throwing: CommandError("psql cannot be started: \(error); install postgresql-client")
                )
            }
        }
    }
}
