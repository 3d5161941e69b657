import Glibc
import Logging
import Subprocess
import SystemPackage
import TestDatabase
import Testing

@testable import PrivatePostgres

/// A fresh folder, removed after a test.
struct TemporaryFolder {
    let path: String

    /// Runs `body` with a folder that other users may enter, as a state folder's parent must be.
    static func with<R>(_ body: (TemporaryFolder) async throws -> R) async throws -> R {
        let path = TestDatabase.freshFolder()
        try #require(mkdir(path, 0o755) == 0)
        let result: Result<R, any Error>
        do {
            result = .success(try await body(TemporaryFolder(path: path)))
        } catch {
            result = .failure(error)
        }
        _ = try await run(.name("rm"), arguments: ["-rf", "--", path], output: .discarded)
        return try result.get()
    }

    /// Runs `body` with a folder whose state folder holds a PostgreSQL that was initialised, and does not run.
    static func initialised<R>(_ body: (TemporaryFolder) async throws -> R) async throws -> R {
        try await with { folder in
            try await ClusterTemplate.copy(to: folder.state)
            return try await body(folder)
        }
    }

    var state: String { path + "/state" }

    /// A private PostgreSQL in the state folder that need not survive a failure of the machine.
    func postgres(_ settings: [String: String] = ["fsync": "off"]) -> PrivatePostgres {
        PrivatePostgres(stateDirectory: state, settings: settings, logger: Logger(label: "test"))
    }

    /// Makes a file of this folder hold a text.
    func write(_ text: String, to name: String) throws {
        let file = try FileDescriptor.open(
            FilePath("\(path)/\(name)"), .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite
        )
        _ = try file.closeAfter { try file.writeAll(text.utf8) }
    }
}
