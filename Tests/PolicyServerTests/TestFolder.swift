import Foundation

/// A place for a folder, which is not there yet, for the time of a test.
final class TestFolder: Sendable {
    let path = FileManager.default.temporaryDirectory.path + "/versiongate-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func make() throws -> String {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }
}
