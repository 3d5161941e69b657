// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Subprocess
import SystemPackage
import TestDatabase

/// The `versiongate` that was built beside the tests, run as a user would.
struct BuiltBinary: Sendable {
    /// What a run printed and how it ended.
    struct Result: Sendable {
        let status: Int
        let output: String
        let errors: String
    }

    /// What differs in its environment from that of the tests.
    let variables: [String: String]

    /// The binary on a database of the test.
    init(_ database: TestDatabase) {
        variables = ["DATABASE_URL": database.url(user: "versiongate_admin")]
    }

    /// The binary with its private PostgreSQL in a folder.
    init(stateDirectory: String) {
        variables = ["VERSIONGATE_STATE_DIR": stateDirectory]
    }

    /// The binary with any environment.
    init(environment: [String: String]) {
        variables = environment
    }

    /// Whether the environment says where the state folder is.
    var namesStateDirectory: Bool { variables["VERSIONGATE_STATE_DIR"] != nil }

    /// Where the binary is: where `VERSIONGATE_BINARY` says, or else beside the tests.
    static let path: String = {
        if let path = ProcessInfo.processInfo.environment["VERSIONGATE_BINARY"], !path.isEmpty { return path }
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return tests.deletingLastPathComponent().appending(path: "versiongate").path
    }()

    /// The environment that the binary runs in.
    var subprocessEnvironment: Environment {
        var updates: [Environment.Key: String?] = [
            "DATABASE_URL": nil, "VERSIONGATE_CONTEXT": nil, "VERSIONGATE_STATE_DIR": nil, "SUDO_USER": nil,
        ]
        for (name, value) in variables { updates[Environment.Key(rawValue: name)!] = value }
        return .inherit.updating(updates)
    }

    /// Runs a command line that is split at blanks; quotes are not known, so values with blanks go to ``run(arguments:)``.
    @discardableResult
    func run(_ line: String) async throws -> Result {
        try await run(arguments: line.split(separator: " ").map(String.init))
    }

    /// Runs a command with these arguments to its end.
    @discardableResult
    func run(arguments: [String]) async throws -> Result {
        try await run(.path(FilePath(Self.path)), arguments, subprocessEnvironment)
    }

    /// Runs a script of bash, to which `$VERSIONGATE` is the binary.
    @discardableResult
    func shell(_ script: String) async throws -> Result {
        try await run(.name("bash"), ["-c", script], subprocessEnvironment.updating(["VERSIONGATE": Self.path]))
    }

    private func run(
        _ program: Executable,
        _ arguments: [String],
        _ environment: Environment
    ) async throws -> Result {
        let result = try await Subprocess.run(
            program,
            arguments: Arguments(arguments),
            environment: environment,
            output: .string(limit: 16 << 20),
            error: .string(limit: 1 << 20)
        )
        guard case .exited(let status) = result.terminationStatus else {
            return Result(status: -1, output: result.standardOutput, errors: result.standardError)
        }
        return Result(status: Int(status), output: result.standardOutput, errors: result.standardError)
    }
}
