import Foundation
import Subprocess
import SystemPackage
import TestSystem

/// `script/database`, run as somebody who operates the database would.
struct DatabaseScript: Sendable {
    /// The address in `DATABASE_URL`; nil: none.
    let databaseURL: String?

    /// Runs the script to its end.
    func run(_ arguments: String...) async throws -> BuiltBinary.Result {
        try await run(arguments)
    }

    /// Runs the script to its end, with the built `versiongate` on the PATH.
    ///
    /// - Parameters:
    ///   - arguments: What follows the name of the script.
    ///   - environment: Further variables.
    ///   - programs: A folder that is looked through before the PATH.
    func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        programs: String? = nil
    ) async throws -> BuiltBinary.Result {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let built = URL(fileURLWithPath: BuiltBinary.path).deletingLastPathComponent().path
        var variables: [Environment.Key: String?] = [
            "DATABASE_URL": databaseURL,
            "PATH": [programs, built, path].compactMap { $0 }.joined(separator: ":"),
        ]
        for (name, value) in environment { variables[Environment.Key(rawValue: name)!] = value }
        let result = try await Subprocess.run(
            .path(FilePath(RepositoryFile.url("script/database").path)), arguments: Arguments(arguments),
            environment: .inherit.updating(variables), output: .string(limit: 1 << 20), error: .string(limit: 1 << 20)
        )
        guard case .exited(let status) = result.terminationStatus else {
            return BuiltBinary.Result(status: -1, output: result.standardOutput, errors: result.standardError)
        }
        return BuiltBinary.Result(status: Int(status), output: result.standardOutput, errors: result.standardError)
    }
}
