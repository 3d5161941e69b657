// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Subprocess

extension ServingBinary {
    /// How a server ended whose output went elsewhere.
    struct RedirectedEnding: Sendable {
        /// The exit status; nil when a signal ended it.
        let status: Int32?
        /// How long it took from SIGTERM to the end.
        let shutdown: Duration
    }

    /// Runs the server with its output redirected by the shell, gives it to `body` once `/live` answers, and then stops
    /// it with SIGTERM.
    ///
    /// - Parameter redirection: Such as `2>/dev/full`.
    static func run(
        _ binary: BuiltBinary,
        redirecting redirection: String,
        arguments: [String] = [],
        _ body: @Sendable (ServingBinary) async throws -> Void
    ) async throws -> RedirectedEnding {
        let ports = (try await FreePort.choose(), try await FreePort.choose())
        return try await StateFolder.with { folder in
            let command = [
                "-c", "exec \"$@\" \(redirection)", "bash", BuiltBinary.path, "serve", "--state-dir", folder.path,
                "--host", "127.0.0.1", "--port", "\(ports.0)", "--management-port", "\(ports.1)",
            ]
            let result = try await Subprocess.run(
                .name("bash"),
                arguments: Arguments(command + arguments),
                environment: binary.subprocessEnvironment,
                input: .none,
                output: .discarded,
                error: .discarded
            ) { execution in
                let server = ServingBinary(
                    publicURL: "http://127.0.0.1:\(ports.0)",
                    managementURL: "http://127.0.0.1:\(ports.1)",
                    processIdentifier: execution.processIdentifier.value
                )
                let outcome: Swift.Result<Void, any Error>
                do {
                    let end = ContinuousClock.now + .seconds(30)
                    while !(await FreePort.isOpen(ports.0)), ContinuousClock.now < end {}
                    outcome = .success(try await body(server))
                } catch {
                    outcome = .failure(error)
                }
                let signal = ContinuousClock.now
                kill(server.processIdentifier, SIGTERM)
                return (outcome, signal)
            }
            let (outcome, signal) = result.closureResult
            try outcome.get()
            let status: Int32? = if case .exited(let status) = result.terminationStatus { status } else { nil }
            return RedirectedEnding(status: status, shutdown: .now - signal)
        }
    }
}
