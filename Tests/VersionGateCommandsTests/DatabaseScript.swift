import Foundation
import TestSystem
import UpdatePolicy

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
        var variables = environment
        variables["DATABASE_URL"] = variables["DATABASE_URL"] ?? databaseURL
        variables["PATH"] = [programs, built, path].compactMap { $0 }.joined(separator: ":")
        let words = ([RepositoryFile.url("script/database").path] + arguments).map(\.shellWord)
        return try await BuiltBinary(environment: variables).shell(words.joined(separator: " "))
    }
}
