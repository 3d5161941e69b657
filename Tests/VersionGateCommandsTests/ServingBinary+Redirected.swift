import Foundation
import Subprocess
import TestSystem

extension ServingBinary {
    /// Runs the server with its output redirected by the shell, gives it to `body` once its ports are open, and then stops
    /// it with SIGTERM.
    ///
    /// - Parameter redirection: Such as `2>/dev/full`.
    /// - Returns: The exit status; nil when a signal ended it.
    static func run(
        _ binary: BuiltBinary,
        redirecting redirection: String,
        arguments: [String] = [],
        _ body: @Sendable (ServingBinary) async throws -> Void
    ) async throws -> Int32? {
        let ports = (try await FreePort.choose(), try await FreePort.choose())
        return try await StateFolder.with { folder in
            let command = [
                "-c", "exec \"$@\" \(redirection)", "bash", BuiltBinary.path, "serve",
                "--state-dir", binary.variables["VERSIONGATE_STATE_DIR"] ?? folder.path, "--host", "127.0.0.1",
                "--port", "\(ports.0)", "--management-port", "\(ports.1)",
            ]
            let result = try await Subprocess.run(
                .name("bash"), arguments: Arguments(command + arguments), environment: binary.subprocessEnvironment,
                input: .none, output: .discarded, error: .discarded
            ) { execution in
                let server = ServingBinary(
                    publicURL: "http://127.0.0.1:\(ports.0)", managementURL: "http://127.0.0.1:\(ports.1)",
                    processIdentifier: execution.processIdentifier.value
                )
                let outcome: Swift.Result<Void, any Error>
                do {
                    for port in [ports.0, ports.1] {
                        try await Poll.until("the server to open its ports") { await FreePort.isOpen(port) }
                    }
                    outcome = .success(try await body(server))
                } catch {
                    outcome = .failure(error)
                }
                kill(server.processIdentifier, SIGTERM)
                return outcome
            }
            try result.closureResult.get()
            return if case .exited(let status) = result.terminationStatus { status } else { nil }
        }
    }
}
