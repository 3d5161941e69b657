import Foundation
import NIOCore
import NIOPosix
import TestDatabase
import TestRandom
import Testing

@testable import UpdatePolicy
@testable import VersionGateCommands

@Suite("Hostile text", .whole)
struct HostileTextTests {
    @Test("The answer of a server is shown with what steers a terminal written out, in each part of it")
    func answer() {
        let hostile = "a\u{1B}]0;x\u{7}\u{202E}\u{2028}\u{2066}\u{9B}\u{61C}\u{200B}\u{FEFF}\u{E0041}"
        let shown = #"a\u{1b}]0;x\u{7}\u{202e}\u{2028}\u{2066}\u{9b}\u{61c}\u{200b}\u{feff}\u{e0041}"#
        let object: JSONValue = ["id": hostile, "title": hostile, "text": hostile, "link": hostile]
        let json = object.lines
        let message = Message(id: hostile, title: hostile, text: hostile, link: hostile)
        let text = [message].text(on: .file)
        #expect(text == "1. \(shown)  [\(shown)]\n   \(shown)\n   \(shown)")
        #expect(CommandError("the server answered\n\(hostile)").description == "the server answered\n\(shown)")
        let raw = "{\"id\":\"\(hostile)\"}\r\n"
        let escaped = #"a\u001b]0;x\u0007\u202e\u2028\u2066\u009b\u061c\u200b\ufeff\udb40\udc41"#
        #expect(raw.visibleJSON == "{\"id\":\"\(escaped)\"} \n")
        #expect(!json.unicodeScalars.contains { $0.steersTerminal })
    }

    @Test("Marks of format and separators of lines are written out; joiners and the letters of all languages stay")
    func marks() throws {
        let hidden = (0...0x10FFFF).compactMap(Unicode.Scalar.init).filter { scalar in
            [.format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
                && !["\u{200C}", "\u{200D}"].contains(scalar)
        }
        #expect(hidden.count > 150)
        for scalar in hidden {
            let digits = String(scalar.value, radix: 16)
            #expect(String(scalar).visible() == "\\u{\(digits)}")
            let json = String(scalar).visibleJSON
            #expect(json.utf8.allSatisfy { $0 < 0x80 })
            #expect(try JSONDecoder().decode(String.self, from: Data("\"\(json)\"".utf8)) == String(scalar))
        }
        let text = "שלום नि\u{200C} 日本語 é 👩\u{200D}👩"
        #expect(text.visible() == text && text.visibleJSON == text)
    }

    @Test("A password in the arguments can be read there no longer than it takes to read them", arguments: ["=", " "])
    func password(_ separator: String) async throws {
        let silent = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(silent.localAddress?.port)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: BuiltBinary.path)
        let option = "--database-url\(separator)postgresql://u:geheim@127.0.0.1:\(port)/x?sslmode=disable"
        process.arguments = ["rule", "list"] + option.split(separator: " ").map(String.init)
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { process.terminate() }
        var arguments = ""
        while process.isRunning, !arguments.contains("***") {
            arguments = try String(contentsOfFile: "/proc/\(process.processIdentifier)/cmdline", encoding: .utf8)
        }
        #expect(arguments.contains("--database-url"))
        #expect(arguments.contains("***"))
        #expect(!arguments.contains("geheim"), "\(arguments)")
        try await silent.close()
    }
}
