import Foundation

/// A state folder for the time of a test.
struct StateFolder: Sendable {
    let path: String

    /// Creates the folder, gives it to `body`, and removes it.
    static func with<Result>(_ body: (StateFolder) async throws -> Result) async throws -> Result {
        let name = "versiongate-state-\(UUID().uuidString.prefix(8))"
        let folder = URL(fileURLWithPath: NSTemporaryDirectory()).appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(StateFolder(path: folder.path))
    }

    /// Where the server keeps the last good policy.
    var policyFile: String { path + "/last-good-policy" }
}
