import Foundation
import Subprocess
import SystemPackage
import TestSystem
import Testing

/// The program of the Prometheus project that reads metrics and rules as its server does.
enum Promtool {
    /// The program, if this machine has it.
    private static let path: FilePath? = {
        let fetched = RepositoryFile.url(".build/tools/promtool").path
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return ([fetched] + folders.map { "\($0)/promtool" })
            .first { FileManager.default.isExecutableFile(atPath: $0) }
            .map { FilePath($0) }
    }()

    /// Whether tests that need the program run: where it is, and in CI in any case, so that none is left out there unseen.
    static var isExpected: Bool { path != nil || ProcessInfo.processInfo.environment["CI"] == "true" }

    /// Expects that the program finds no fault.
    static func expectSuccess(_ arguments: [String], input: String = "") async throws {
        let result = try await run(
            .path(try #require(path, "promtool is not on this machine; script/bootstrap test fetches it")),
            arguments: Arguments(arguments), input: .string(input), output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        #expect(
            result.terminationStatus.isSuccess,
            "promtool \(arguments): \(result.standardOutput)\n\(result.standardError)\n\(input)"
        )
    }
}
