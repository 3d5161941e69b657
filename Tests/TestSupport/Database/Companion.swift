import Foundation
import Subprocess

/// A program that runs while a test does, and ends with it, also when the test's process is killed.
package enum Companion {
    /// Ends the program with SIGINT when the standard input ends, which the kernel sees to.
    private static let script = """
        log=$1; shift
        "$@" > "$log" 2>&1 < /dev/null & process=$!
        cat > /dev/null
        kill -INT "$process" 2> /dev/null
        wait "$process"
        """

    /// Runs a program while `body` runs.
    ///
    /// - Parameters:
    ///   - command: The program and its arguments.
    ///   - owned: A file or folder; root runs the program as its owner.
    ///   - log: The file for what the program prints.
    package static func run<Result: Sendable>(
        _ command: [String],
        asOwnerOf owned: String,
        log: String,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let prefix = try asOwner(of: owned)
        return try await Subprocess.run(
            .name("env"),
            arguments: Arguments(["--chdir=/"] + prefix + ["sh", "-c", script, "companion", log] + command),
            input: .inputWriter, output: .discarded, error: .discarded
        ) { execution in
            let result: Swift.Result<Result, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            try await execution.standardInputWriter.finish()
            return try result.get()
        }.closureResult
    }

    /// Runs a program to its end.
    ///
    /// - Parameter owned: A file or folder; root runs the program as its owner. Nil: as the user of this process.
    /// - Throws: ``CompanionError`` with what it printed if it fails.
    static func finish(_ command: [String], asOwnerOf owned: String? = nil) async throws {
        let result = try await Subprocess.run(
            .name("env"), arguments: Arguments(["--chdir=/"] + (owned.map(asOwner) ?? []) + command),
            output: .discarded, error: .string(limit: 1 << 16)
        )
        guard result.terminationStatus.isSuccess else {
            throw CompanionError("\(command[0]) failed: \(result.standardError)")
        }
    }

    /// Makes a folder that belongs to the owner of another, who alone may enter it.
    static func makeFolder(_ folder: String = TestDatabase.freshFolder(), ownedAs owned: String) throws -> String {
        let owner = try FileManager.default.attributesOfItem(atPath: owned)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
        try FileManager.default.setAttributes(
            [
                .ownerAccountID: owner[.ownerAccountID] ?? getuid(),
                .groupOwnerAccountID: owner[.groupOwnerAccountID] ?? getgid(),
            ],
            ofItemAtPath: folder
        )
        return folder
    }

    /// Where a program is; nil if it is not installed.
    package static func find(_ program: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]
        return folders.map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }

    private static func asOwner(of path: String) throws -> [String] {
        guard geteuid() == 0 else { return [] }
        let owner = try FileManager.default.attributesOfItem(atPath: path)
        guard let user = owner[.ownerAccountID], let group = owner[.groupOwnerAccountID] else { return [] }
        return ["setpriv", "--reuid=\(user)", "--regid=\(group)", "--clear-groups", "--"]
    }
}

/// A program that a test needs could not do its work.
package struct CompanionError: Error, CustomStringConvertible {
    /// What went wrong, with which program.
    package let description: String

    /// Creates an error.
    package init(_ description: String) {
        self.description = description
    }
}
