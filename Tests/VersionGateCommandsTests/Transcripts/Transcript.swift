import Foundation
import TestSystem

/// A file of `Tests/Cases`: what is done, and what is answered. `Tests/Cases/README.md` says how it is written.
struct Transcript: Sendable {
    /// What a step does.
    enum Action: Equatable, Sendable {
        /// SQL, by the psql of a role; of `each`, or of several with commas between them, who are all answered the same.
        case sql(role: String)
        /// A command, as somebody types it.
        case command
        /// A request to the server of the case; apps call its public listener.
        case request(isManagement: Bool)
        /// Writes a file into the folder of the case.
        case file(String)
        /// Runs a file of `Tests/Cases/fixtures`.
        case fixture(String)
    }

    /// What is done, and what was written of its answer.
    struct Step: Sendable {
        /// The number of its first line.
        let line: Int
        let action: Action
        /// The statement, the command, the request or the text of the file.
        var text: String
        /// Its lines as they are written.
        var source: [String]
        /// The lines of the answer, as they are written.
        var answer: [String] = []

        /// The answer without its margin.
        var printed: String {
            answer.filter { !$0.hasPrefix("  ? ") }.map { String($0.dropFirst(4)) }.joined(separator: "\n")
        }

        /// The exit code of a command; of SQL 1 if it is refused.
        var status: Int {
            if let code = answer.last?.prefixMatch(of: #/  \? (\d+)/#)?.1 { return Int(code) ?? -1 }
            return answer.contains { $0.hasPrefix("    ERROR: ") } ? 1 : 0
        }

        var isRefused: Bool { status != 0 }
    }

    /// What begins with a title, on a policy of its own.
    struct Case: Sendable {
        let title: String
        let line: Int
        var parts: [Part] = []

        var steps: [Step] { parts.compactMap { if case .step(let step) = $0 { step } else { nil } } }
    }

    /// A step, or a line that is not carried out.
    enum Part: Sendable {
        case step(Step)
        case prose(String)
    }

    /// The name of the file in `Tests/Cases`, without its extension.
    let name: String
    /// What each case begins with stands before the first of them.
    var cases: [Case]

    var path: String { Self.folder.appending(path: "\(name).case").path }

    static let folder = RepositoryFile.url("Tests/Cases")

    /// The names of all files.
    static let names: [String] = {
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return files.filter { $0.hasSuffix(".case") }.map { String($0.dropLast(5)) }.sorted()
    }()

    /// Reads a file.
    init(_ name: String) throws {
        self.name = name
        cases = [Case(title: "", line: 1)]
        let text = try String(contentsOf: Self.folder.appending(path: "\(name).case"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var empty = 0
        for (index, line) in lines.enumerated() {
            if line.isEmpty {
                empty += 1
                continue
            }
            // An empty line is part of an answer that goes on behind it.
            try read(line, number: index + 1, emptyLines: empty)
            empty = 0
        }
    }

    private mutating func read(_ line: String, number: Int, emptyLines: Int) throws {
        let last = cases.indices.last ?? 0
        if line.hasPrefix("## ") {
            cases.append(Case(title: String(line.dropFirst(3)), line: number))
        } else if let (action, text) = Self.begin(line) {
            let gap = Array(repeating: Part.prose(""), count: min(emptyLines, 1))
            cases[last].parts += gap + [.step(Step(line: number, action: action, text: text, source: [line]))]
        } else if line.hasPrefix("  ") || line.hasPrefix("->"), case .step(var step) = cases[last].parts.last {
            let gap = Array(repeating: "", count: emptyLines)
            if case .file = step.action, line.hasPrefix("    ") {
                step.source += gap + [line]
                step.text += gap.map { _ in "\n" }.joined() + line.dropFirst(4) + "\n"
            } else if line.hasPrefix("->") {
                step.source.append(line)
                step.text += "\n" + line.dropFirst(3)
            } else {
                step.answer += gap + [line]
            }
            cases[last].parts[cases[last].parts.count - 1] = .step(step)
        } else if line.hasPrefix("#") {
            cases[last].parts += Array(repeating: Part.prose(""), count: min(emptyLines, 1)) + [.prose(line)]
        } else {
            throw Fault(description: "\(path):\(number): is neither a step, an answer nor a comment: \(line)")
        }
    }

    /// What a line begins, and its text.
    private static func begin(_ line: String) -> (Action, String)? {
        if let match = line.wholeMatch(of: /([a-z,]*)=> (.*)/) {
            return (.sql(role: match.1.isEmpty ? "admin" : String(match.1)), String(match.2))
        }
        if let match = line.wholeMatch(of: /file (\S+)/) { return (.file(String(match.1)), "") }
        if let match = line.wholeMatch(of: /fixture (\S+)/) { return (.fixture(String(match.1)), "") }
        for (mark, action) in [
            ("$ ", Action.command), ("> ", .request(isManagement: false)), (">> ", .request(isManagement: true)),
        ] where line.hasPrefix(mark) {
            return (action, String(line.dropFirst(mark.count)))
        }
        return nil
    }

    /// Everything that steps say, with the fixtures that they name.
    static func inputs(of steps: [Step]) throws -> String {
        try steps.map { step in
            guard case .fixture(let name) = step.action else { return step.text }
            return try String(contentsOf: folder.appending(path: "fixtures/\(name).sql"), encoding: .utf8)
        }.joined(separator: "\n")
    }

    /// The file, with the answers that its steps have now.
    var text: String {
        var lines: [String] = []
        for one in cases {
            if !one.title.isEmpty { lines += ["", "## \(one.title)"] }
            for part in one.parts {
                switch part {
                case .prose(let line): lines.append(line)
                case .step(let step): lines += step.source + step.answer
                }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A file cannot be read.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }
}

extension [String] {
    /// The words of a command line: quotes and backslashes as in a shell, and nothing else of it.
    init(shellWordsOf line: some StringProtocol) {
        self = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in line {
            switch character {
            case _ where isEscaped:
                word = (word ?? "") + String(character)
                isEscaped = false
            case "\\" where quote != "'": isEscaped = true
            case _ where quote == character: quote = nil
            case "'" where quote == nil, "\"" where quote == nil: (quote, word) = (character, word ?? "")
            case " " where quote == nil, "\n" where quote == nil:
                self += [word].compactMap(\.self)
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        self += [word].compactMap(\.self)
    }
}
