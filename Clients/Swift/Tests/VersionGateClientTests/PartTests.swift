import Foundation
import Testing

@testable import VersionGateClient

@Suite("Storage")
struct StorageTests {
    @Test("A file keeps a text for its owner alone, and makes its folder")
    func file() throws {
        let folder = try TemporaryFolder()
        let file = folder["state/com.example.doto/dev.versiongate.json"]
        let storage = FileStorage(file: file)
        #expect(try storage.read() == nil)
        try storage.write(nil)
        try storage.write("one")
        try storage.write("zwölf")
        #expect(try storage.read() == "zwölf")
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path).count == 1)
        try storage.write(nil)
        #expect(try storage.read() == nil)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("A file that is damaged, or no file, cannot be read")
    func damaged() throws {
        let folder = try TemporaryFolder()
        try Data([0x7B, 0xFF, 0xFE]).write(to: folder["file"])
        #expect(throws: (any Error).self) { try FileStorage(file: folder["file"]).read() }
        #expect(throws: (any Error).self) { try FileStorage(file: folder.url).read() }
        #expect(throws: (any Error).self) { try FileStorage(file: folder["file/in/file"]).write("text") }
    }

    @Test("User defaults keep a text under the name of the library")
    func defaults() throws {
        let suite = "versiongate-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        let storage = UserDefaultsStorage(suite: suite)
        #expect(storage.read() == nil)
        storage.write("one")
        #expect(storage.read() == "one")
        #expect(defaults.string(forKey: "dev.versiongate") == "one")
        storage.write(nil)
        #expect(storage.read() == nil)
        storage.write("two")
        defaults.set(["no text"], forKey: "dev.versiongate")
        #expect(storage.read() == nil)
    }

    #if !canImport(Darwin)
        @Test(
            "The file of an app is in the folder for state, whatever its bundle is called",
            arguments: [
                ("com.example.doto", "com.example.doto"), ("../../etc", "..%2F..%2Fetc"), ("a b/ü", "a%20b%2F%C3%BC"),
            ]
        )
        func place(bundle: String, folder: String) throws {
            let storage = try #require(VersionGate.defaultStorage(for: .init(bundle: bundle)) as? FileStorage)
            #expect(storage.file.path.hasSuffix("/\(folder)/dev.versiongate.json"), "\(storage.file.path)")
        }

        @Test("An app without a bundle that can name a folder is kept in memory", arguments: [nil, "", ".", ".."])
        func noPlace(bundle: String?) {
            #expect(VersionGate.defaultStorage(for: .init(bundle: bundle)) is MemoryStorage)
        }
    #endif
}

@Suite("App description")
struct AppDescriptionTests {
    @Test("The version of a system is written as people write it")
    func system() {
        #expect(AppDescription.text(of: .init(majorVersion: 17, minorVersion: 4, patchVersion: 1)) == "17.4.1")
        #expect(AppDescription.text(of: .init(majorVersion: 17, minorVersion: 4, patchVersion: 0)) == "17.4")
        #expect(AppDescription.text(of: .init(majorVersion: 26, minorVersion: 0, patchVersion: 0)) == "26.0")
    }

    @Test("The description of this program names its platform, system and language")
    func current() throws {
        let app = AppDescription.current
        #if os(macOS)
            #expect(app.platform == "macos")
        #elseif os(Linux)
            #expect(app.platform == "linux")
            #expect(app.bundle == nil)
        #endif
        let numbers = try #require(app.os).split(separator: ".").map { Int($0) }
        #expect(numbers.count > 1 && !numbers.contains(nil))
        #expect(app.language?.isEmpty == false)
    }
}

@Suite("Message")
struct MessageTests {
    @Test("A link is given as an address")
    func link() throws {
        for text in ["https://example.com/a?b=%20#c", "HTTPS://EXAMPLE.COM/", "market://details?id=x", "itms-apps:x"] {
            let message = Message(id: "a", title: "A", text: "A", link: text)
            #expect(message.link?.absoluteString == text)
            #expect(message.opened()?.absoluteString == text)
        }
    }

    @Test("Characters of a link that no address has are percent-encoded")
    func encoded() {
        let message = Message(id: "a", title: "A", text: "A", link: "https://example.com/{x}|^")
        #expect(message.link?.absoluteString == "https://example.com/%7Bx%7D%7C%5E")
    }

    @Test("A link that no system can open is none", arguments: ["https://[", "javascript:alert(1)", "https:", ""])
    func noLink(text: String) {
        #expect(Message(id: "a", title: "A", text: "A", link: text).link == nil)
    }

    @Test("A message for previews says what it was given, and can be used as one of a server")
    func preview() {
        let message = Message(id: "a", title: "A", text: "B", target: "1.2", canSkip: true)
        message.dismiss()
        message.skip()
        #expect(message.opened() == nil)
        #expect((message.id, message.title, message.text, message.target) == ("a", "A", "B", "1.2"))
        #expect(message.canSkip && !message.isLockout)
        let lockout = Message(id: "a", title: "A", text: "B", isLockout: true, canSkip: true)
        #expect(lockout.isLockout && !lockout.canSkip)
        #expect(message != lockout)
        #expect(Set([message, message, lockout]).count == 2)
    }
}
