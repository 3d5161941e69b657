public import Foundation

/// Keeps one text between the starts of an app.
///
/// The library calls it on a queue of its own, one call after the other, so it may block. What cannot be read within a
/// second is the same as nothing kept, and is then left as it is until the app ends. What cannot be written is lost when
/// the app ends.
public protocol GateStorage: Sendable {
    /// The kept text; nil if there is none.
    func read() throws -> String?

    /// Keeps `text` in place of what was kept; nil: keeps nothing.
    func write(_ text: String?) throws
}

/// Keeps the text in `UserDefaults`, under the name `dev.versiongate`.
public struct UserDefaultsStorage: GateStorage {
    private static let key = "dev.versiongate"

    private let suite: String?

    /// Creates storage in the standard defaults of the app.
    public init() {
        self.init(suite: nil)
    }

    init(suite: String?) {
        self.suite = suite
    }

    // Not kept, because it is not Sendable on each system.
    private var defaults: UserDefaults {
        suite.flatMap { UserDefaults(suiteName: $0) } ?? .standard
    }

    /// The kept text; nil if there is none.
    public func read() -> String? {
        defaults.string(forKey: Self.key)
    }

    /// Keeps `text`; nil: keeps nothing.
    public func write(_ text: String?) {
        let defaults = defaults
        if let text { defaults.set(text, forKey: Self.key) } else { defaults.removeObject(forKey: Self.key) }
    }
}

/// Keeps the text in a file that only the user of this process can read.
public struct FileStorage: GateStorage {
    let file: URL

    /// Creates storage in the file, whose folder is made when it is needed.
    public init(file: URL) {
        self.file = file
    }

    /// The text of the file; nil if there is no file.
    public func read() throws -> String? {
        do {
            return try String(contentsOf: file, encoding: .utf8)
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        }
    }

    /// Replaces the file in one step; nil: deletes it.
    public func write(_ text: String?) throws {
        let files = FileManager.default
        guard let text else {
            guard files.fileExists(atPath: file.path) else { return }
            return try files.removeItem(at: file)
        }
        try files.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try Data(text.utf8).write(to: file, options: .atomic)
        try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
}

/// Keeps the text until the process ends: for tests, and where nothing may be kept.
public final class MemoryStorage: GateStorage {
    private let text: Locked<String?>

    /// Creates storage that keeps `text`.
    public init(_ text: String? = nil) {
        self.text = Locked(text)
    }

    /// The kept text; nil if there is none.
    public func read() -> String? {
        text.withLock { $0 }
    }

    /// Keeps `text`; nil: keeps nothing.
    public func write(_ text: String?) {
        self.text.withLock { $0 = text }
    }
}

extension VersionGate {
    /// The storage of a gate that is given no other.
    ///
    /// On the systems of Apple that is ``UserDefaultsStorage``: it is deleted with the app, and an app that syncs nothing
    /// else needs no file. Elsewhere `UserDefaults` belongs to the name of a process, which many programs can have. There
    /// it is a ``FileStorage``: the file `dev.versiongate.json` in a folder named like the bundle, in `$XDG_STATE_HOME`,
    /// else in `.local/state` of the home folder. A program without a bundle keeps it in memory.
    public static func defaultStorage(for app: AppDescription) -> any GateStorage {
        #if canImport(Darwin)
            return UserDefaultsStorage()
        #else
            guard
                let bundle = app.bundle?.addingPercentEncoding(
                    withAllowedCharacters: .alphanumerics.union(["-", "."])),
                bundle.contains(where: { $0 != "." })
            else { return MemoryStorage() }
            let folder: URL
            if let state = ProcessInfo.processInfo.environment["XDG_STATE_HOME"], state.hasPrefix("/") {
                folder = URL(fileURLWithPath: state, isDirectory: true)
            } else {
                folder = FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/state")
            }
            return FileStorage(
                file: folder.appendingPathComponent(bundle).appendingPathComponent("dev.versiongate.json")
            )
        #endif
    }
}
