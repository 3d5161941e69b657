import Foundation
import Subprocess
import TestDatabase
import Testing
import UpdatePolicy

/// Commands and statements in what is printed, typed as somebody types what was copied.
enum PrintedText {
    /// The commands that are printed to be typed where the database is the context `test`, whose name ends each of them.
    static func commands(in text: String) -> [String] {
        let command = #/versiongate (?:(?!versiongate )[^\n`])*? --context test(?: -- [^\n`]*)?/#
        return text.replacing("\"versiongate ", with: "\"").matches(of: command).map { String($0.output) }
    }

    /// The statements that are printed to be pasted, each with a semicolon at its end.
    static func statements(in text: String) -> [String] {
        let statement = #/\b(?:SET LOCAL|SELECT|INSERT INTO|UPDATE|DELETE FROM) [^;\n]*;/#
        return text.matches(of: statement).map { String($0.output) }
    }

    /// What makes the current database the context `test` of a command, by a file in a folder.
    static func variables(in folder: String) throws -> [String: String] {
        let settings = URL(fileURLWithPath: "\(folder)/versiongate")
        try FileManager.default.createDirectory(at: settings, withIntermediateDirectories: true)
        let address = TestDatabase.current.url(user: "versiongate_admin")
        try Data("contexts: {test: {database-url: '\(address)'}}".utf8).write(
            to: settings.appending(path: "config.yaml")
        )
        return ["XDG_CONFIG_HOME": folder, "VERSIONGATE_CONTEXT": "test"]
    }

    /// What stands for the words that somebody fills in.
    private static let values = [
        ("PERCENT@TIME...", "25%@now"), ("https://...", "https://example.com/app"),
        ("PLATFORM=URL", "ios=https://example.com"),
        ("BUNDLE", "com.acme.notes"), ("VERSION", "1.2"), ("PLATFORM", "ios"), ("KEY", "update-1.2"),
        ("PERCENT", "25"), ("TITLE", "T"), ("TEXT", "X"), ("LANGUAGE", "fr"), ("CHANGE", "1"), ("BUILD", "42"),
        ("TIME", "now"), ("COUNTRY", "JP"), ("NAME", "ann"), ("ROLE", "viewer"), ("OS", "15"),
        ("URL", "https://example.com"),
    ]

    /// What stands for the three dots behind a command: its operands, as far as they are missing, and options.
    private static let rest: [String: (operands: [String], options: String)] = [
        "rule add": (["new"], "--title T --text X"), "rule edit": (["update-1.2"], "--note n"),
        "rule show": (["ramp"], ""),
        "release add": (["com.acme.notes", "1.2"], "--platform ios"), "app show": (["com.acme.notes"], ""),
        "release edit": (["com.acme.notes", "1.2"], "--note n"), "app add": (["com.acme.new"], ""),
    ]

    /// A command with values in place of the words in capitals and of dots.
    ///
    /// - Parameter file: A policy file.
    static func filled(_ command: String, file: String, _ own: [(String, String)] = []) -> String {
        var text = command.replacing("policy.yaml", with: file)
        for (name, value) in own + [("FILE", file)] + values {
            let isEnd: (Character?) -> Bool = { $0.map { !$0.isLetter && !$0.isNumber && $0 != "_" } ?? true }
            var found = text.ranges(of: name)
            while let range = found.popLast() {
                let before = range.lowerBound == text.startIndex ? nil : text[text.index(before: range.lowerBound)]
                let after = range.upperBound == text.endIndex ? nil : text[range.upperBound]
                if isEnd(before), isEnd(after) { text.replaceSubrange(range, with: value) }
            }
        }
        if let dots = text.firstRange(of: " ...") {
            let words = text[..<dots.lowerBound].split(separator: " ").dropFirst().prefix { !$0.hasPrefix("-") }
            let more = rest[words.prefix(2).joined(separator: " ")] ?? (["list"], "")
            let missing = more.operands.dropFirst(max(0, words.count - 2))
            let known = (missing + [more.options]).joined(separator: " ")
            text.replaceSubrange(dots, with: " \(known)")
        }
        return text
    }

    /// The words that a shell makes of a command; nil where it is not one command.
    static func words(of command: String) async throws -> [String]? {
        let script = "versiongate() { for word do printf '%s\\037' \"$word\"; done; printf '\\036'; }\n\(command)"
        let result = try await BuiltBinary(environment: [:]).shell("exec sh -c \(script.shellWord)")
        let calls = result.output.split(separator: "\u{1E}", omittingEmptySubsequences: false).dropLast()
        guard result.status == 0, result.errors.isEmpty, calls.count == 1 else { return nil }
        return calls[0].split(separator: "\u{1F}", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// Types each command that a text prints on a copy of the current database: none is wrong usage, or what a shell makes
    /// something else of.
    ///
    /// - Returns: How many there were.
    @discardableResult
    static func typeCommands(in text: String, _ origin: String) async throws -> Int {
        let all = Set(commands(in: text)).sorted()
        for command in all {
            try await StateFolder.with { folder in
                let file = "\(folder.path)/policy.yaml"
                try Data("versiongate: 1\napps: {}\nrules: {}\n...\n".utf8).write(to: URL(fileURLWithPath: file))
                let typed = filled(command, file: file)
                let words = try #require(try await words(of: typed), "\(origin): a shell reads \(typed)")
                #expect(words.contains("--context"), "\(origin): \(typed)")
                guard words.first != "serve" else { return }
                let result = try await TestDatabase.withCopy {
                    try await BuiltBinary(environment: variables(in: folder.path)).run(arguments: words)
                }
                #expect(
                    result.status != 64 && result.status >= 0 && !result.errors.contains("syntax error"),
                    "\(origin): \(typed): \(result.errors)"
                )
            }
        }
        return all.count
    }

    /// Pastes each statement that a text prints into a transaction that is rolled back: none is malformed.
    static func pasteStatements(in text: String, _ origin: String) async throws {
        for statement in Set(statements(in: text)).sorted() {
            let pasted = statement.replacing("https://...", with: "https://example.com").replacing(
                "...",
                with: "note = 'n'"
            )
            let result = try await TestDatabase.current.psql("BEGIN; \(pasted) ROLLBACK;", user: "versiongate_admin")
            let isMalformed = result.errors.contains(#/syntax error|(column|relation|function) .* does not exist/#)
            #expect(!isMalformed, "\(origin): \(pasted): \(result.errors)")
        }
    }
}
