import Foundation
import TestDatabase
import Testing
import UpdatePolicy

/// Commands and statements in what is printed, typed as somebody types what was copied.
enum PrintedText {
    /// The commands that are printed to be typed where the database is the service `test`, whose name ends each of them.
    static func commands(in text: String) -> [String] {
        let command = #/versiongate (?:(?!versiongate )[^\n`])*? --database-url service=test(?: -- [^\n`]*)?/#
        return text.replacing("\"versiongate ", with: "\"").matches(of: command).map { String($0.output) }
    }

    /// The statements that are printed to be pasted, each with a semicolon at its end.
    static func statements(in text: String) -> [String] {
        let statement = #/\b(?:SET LOCAL|SELECT(?! ON )|INSERT INTO|UPDATE|DELETE FROM) [^;\n]*;/#
        return text.matches(of: statement).map { String($0.output) }
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

    /// The words that a shell makes of each command; nil where it is not one command.
    static func words(of commands: [String]) async throws -> [[String]?] {
        // One shell starts all others, as this process is large and starts each slowly.
        let call = #"versiongate() { printf '\034'; for word do printf '%s\037' "$word"; done; printf '\036'; }"# + "\n"
        let script = commands.map { "sh -c \"$call\"\($0.shellWord) 2>&1; printf '%s\\035' $?\n" }.joined()
        let result = try await BuiltBinary(environment: [:]).shell("call=\(call.shellWord)\n\(script)")
        return result.output.split(separator: "\u{1D}", omittingEmptySubsequences: false).dropLast().map { printed in
            // What a shell complains of would stand before or behind the call.
            let parts = printed.split(separator: "\u{1E}", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].first == "\u{1C}", parts[1] == "0" else { return nil }
            let words = parts[0].dropFirst().split(separator: "\u{1F}", omittingEmptySubsequences: false)
            return words.dropLast().map(String.init)
        }
    }

    /// Types commands one after the other, the first on the policy of the fixture `notes`: none is wrong usage, nor what a
    /// shell makes something else of.
    static func type(_ commands: [String]) async throws {
        try await TranscriptStage.with(inputs: "") { stage in
            func step(_ action: Transcript.Action, _ text: String) -> Transcript.Step {
                Transcript.Step(line: 0, action: action, text: text, source: [])
            }
            _ = try await stage.answer(step(.fixture("notes"), ""))
            _ = try await stage.answer(step(.file("policy.yaml"), "versiongate: 1\napps: {}\nrules: {}\n...\n"))
            let typed = commands.map { filled($0, file: "{folder}/policy.yaml") }
            let read = try await words(of: typed)
            try #require(read.count == typed.count)
            for (typed, words) in zip(typed, read) {
                let words = try #require(words, "a shell reads \(typed)")
                #expect(words.contains("--database-url"), "\(typed)")
                guard words.first != "serve" else { continue }
                var typing = step(.command, "versiongate " + words.map(\.shellWord).joined(separator: " "))
                typing.answer = try await stage.answer(typing)
                #expect(
                    typing.status != 64 && typing.status >= 0 && !typing.printed.contains("syntax error"),
                    "\(typed): \(typing.printed)"
                )
            }
        }
    }

    /// Pastes each statement into a transaction that is rolled back: it is not malformed.
    static func paste(_ statements: [String]) async throws {
        try await WarmDatabase.with { database in
            for statement in statements {
                let pasted = statement.replacing("https://...", with: "https://example.com")
                    .replacing("'...'", with: "'1'").replacing("...", with: "note = 'n'")
                let answer = try await database.psql("admin").answer("BEGIN; \(pasted) ROLLBACK;")
                let isMalformed = answer.contains(#/syntax error|(column|relation|function) .* does not exist/#)
                #expect(!isMalformed, "\(pasted): \(answer)")
            }
        }
    }
}
