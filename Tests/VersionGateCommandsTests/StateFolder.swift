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

    /// Where the server notes what it has on trial, and of what servers died.
    private var trialFile: String { path + "/policy-trial" }

    /// The tokens of policies that servers died of, the last of what a server that was killed had on trial.
    var deaths: [String] {
        ((try? String(contentsOfFile: trialFile, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    /// Has the servers that died have died so many seconds earlier.
    func age(by seconds: Int64) throws {
        let lines = deaths.map { line in
            let words = line.split(separator: " ")
            return words.count == 2 ? "\(words[0]) \((Int64(words[1]) ?? 0) - seconds * 1_000_000)\n" : "\(line)\n"
        }
        guard let date = try? FileManager.default.attributesOfItem(atPath: trialFile)[.modificationDate] as? Date else {
            return
        }
        try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: trialFile))
        try FileManager.default.setAttributes(
            [.modificationDate: date - TimeInterval(seconds)], ofItemAtPath: trialFile
        )
    }

    /// Has the servers that died have died so many seconds ago.
    func setDeaths(_ seconds: [Int64]) throws {
        let now = Int64(Date().timeIntervalSince1970)
        let lines = zip(deaths, seconds).map { "\($0.split(separator: " ")[0]) \((now - $1) * 1_000_000)\n" }
        try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: trialFile))
    }
}
