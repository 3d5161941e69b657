import Foundation
import TestDatabase
import TestRandom
import TestSystem
import Testing
import UpdatePolicy

/// A text that a hint proposes in place of what was refused.
private struct Proposal {
    /// The text as it was proposed.
    let text: String
    /// The words of the command with it, or the statement.
    let words: [String]

    /// What stands behind the last colon, or behind "Write", one by one; none where that is prose.
    private static func items(_ text: String) -> [String] {
        let lists = text.matches(of: /\(([^()]*\d[^()]*)\)/).map { String($0.1) }
        let tail = text.split(separator: ": ").last.map(String.init) ?? ""
        let end = text.hasSuffix(".") ? nil : tail.wholeMatch(of: /(?:.*\b[Ww]rite )?(.+)/).map { String($0.1) }
        return (lists.isEmpty ? [end].compactMap(\.self) : lists).flatMap { $0.split(separator: #/, | or | and /#) }
            .map { String($0.prefix(upTo: $0.firstRange(of: " for ")?.lowerBound ?? $0.endIndex)) }
            .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "'\"")) }
            // Prose, and commands, which other tests type.
            .filter {
                !$0.hasPrefix("a ") && !$0.hasPrefix("there is ") && !$0.hasPrefix("versiongate")
                    && $0.firstMatch(of: /[A-Z]{3}/) == nil
            }
    }

    /// All that the answer to a step proposes.
    static func all(of step: Transcript.Step) -> [Proposal] {
        let text = step.printed.replacing(" --database-url service=test", with: "")
        guard step.action == .command else { return ofStatement(step.text, text) }
        let arguments = Array([String](shellWordsOf: step.text).dropFirst())
        if let match = text.firstMatch(of: /[Dd]id you mean(?: --bundle)?: versiongate (.+)/) {
            return [Proposal(text: String(match.1), words: [String](shellWordsOf: match.1))]
        }
        if let match = text.firstMatch(of: /Unknown option '(.+?)'.*Did you mean '(.+?)'\?/) {
            let meant = [String](shellWordsOf: match.2)
            let words = arguments.flatMap { word -> [String] in
                let halves = word.split(separator: "=", maxSplits: 1)
                guard halves.first == match.1 else { return [word] }
                return halves.count > 1 ? ["\(meant[0])=\(halves[1])"] : meant
            }
            return [Proposal(text: String(match.2), words: words)]
        }
        let places = /(?:by itself: |; write |with spaces: |behind "=": |name the file: )(--[a-z-]+[ =].+)/
        if let match = text.firstMatch(of: places) {
            let meant = [String](shellWordsOf: match.1)
            let name = String(meant[0].prefix { $0 != "=" })
            guard let start = arguments.firstIndex(where: { $0 == name || $0.hasPrefix("\(name)=") }) else { return [] }
            let behind = arguments[(start + 1)...].drop { !$0.hasPrefix("-") || Double($0) != nil }
            return [Proposal(text: String(match.1), words: arguments[..<start] + meant + behind)]
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix("Error:") } ?? ""
        let refused = line.firstMatch(of: /The value '(.*)' is invalid for .*?: (.+)/).map { ($0.1, $0.2) }
        let hint = text.split(separator: "\n").first { $0.hasPrefix("Hint:") }
        let value = refused?.0 ?? line.firstMatch(of: /"([^"]*)"/)?.1
        guard let value, let prose = refused?.1 ?? hint else { return [] }
        return items(String(prose)).compactMap { item in
            let words = arguments.map { word in
                // A time of a ramp stands behind its percentage.
                if word == value, let place = word.firstIndex(of: "@"), !item.contains("@") {
                    return "\(word[...place])\(item)"
                }
                return word == value
                    ? item : word.hasSuffix("=\(value)") ? "\(word.dropLast(value.count))\(item)" : word
            }
            return words == arguments ? nil : Proposal(text: item, words: words)
        }
    }

    private static func ofStatement(_ sql: String, _ answer: String) -> [Proposal] {
        guard let value = answer.firstMatch(of: /ERROR: .*?"([^"]*)"/)?.1,
            let hint = answer.firstMatch(of: /HINT: +(.+)/)?.1, sql.contains(value)
        else { return [] }
        return items(String(hint)).map { Proposal(text: $0, words: [sql.replacing(value, with: $0)]) }
    }
}

/// What hints propose is typed in place of what was refused: it is accepted, and is what is stored.
@Suite("Hints")
struct HintTests {
    /// Answers that name an example of another thing, or leave out what only the person knows, by the beginning.
    private static var isExample: Regex<(Substring, Substring, Substring?)> {
        /Error: (the address|--database-url|.* is not one (build|version);)/
    }

    @Test("What a hint of the cases proposes is accepted, and means what it says", .timeLimit(.minutes(20)))
    func areTrue() async throws {
        let leaves = try await CommandTree.read().leaves
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for name in Transcript.names where name.hasPrefix("inputs/") && name != "inputs/server" {
                group.addTask { try await proposals(in: name, leaves) }
            }
            return try await group.reduce(0, +)
        }
        #expect(count > 60)
    }

    /// Tries what the answers of a file propose, and says how much that is.
    private func proposals(in name: String, _ leaves: [CommandTree.Leaf]) async throws -> Int {
        let transcript = try Transcript(name)
        var count = 0
        for one in transcript.cases.dropFirst() {
            let steps = transcript.cases[0].steps + one.steps
            try await TranscriptStage.with(inputs: try Transcript.inputs(of: steps)) { stage in
                for step in steps {
                    let isInput = step.action == .command || step.action == .sql(role: "admin")
                    guard isInput else {
                        _ = try await stage.answer(step)
                        continue
                    }
                    guard step.isRefused, step.action != .command || step.text.hasPrefix("versiongate ") else {
                        continue
                    }
                    count += try await proposals(of: step, stage, leaves)
                }
            }
        }
        return count
    }

    private func proposals(
        of step: Transcript.Step, _ stage: TranscriptStage, _ leaves: [CommandTree.Leaf]
    ) async throws -> Int {
        guard step.printed.firstMatch(of: Self.isExample) == nil else { return 0 }
        // A server that takes what is proposed serves for ever, and an export writes its file. Dots stand for what only
        // the person knows.
        let proposals = Proposal.all(of: step).filter {
            $0.words.first != "serve" && !$0.words.contains("--output") && $0.words.last != "..."
        }
        for proposal in proposals {
            var tried = step
            if step.action == .command {
                let leaf = leaves.first { proposal.words.starts(with: $0.path) }
                let isEdit = leaf?.options.contains("dry-run") == true && !proposal.words.contains("--dry-run")
                let words = proposal.words + (isEdit ? ["--dry-run"] : [])
                tried.text = "versiongate " + words.map(\.shellWord).joined(separator: " ")
            } else {
                tried.text = "BEGIN; \(proposal.words[0]); ROLLBACK"
            }
            tried.answer = try await stage.answer(tried)
            let what = "\(step.text) proposes \(proposal.text): \(tried.printed)"
            // What stays wrong beside it is another fault.
            let isRefused = ["is invalid for", "Unknown option", "There is no command", "ERROR:"]
                .contains(where: tried.printed.contains)
            #expect(!isRefused && tried.answer != step.answer, "\(what)")
            #expect(!tried.isRefused || step.status != 1, "\(what)")
        }
        return proposals.count
    }
}
