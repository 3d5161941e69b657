import Foundation
import TestPolicies
import TestSystem
import UpdatePolicy

/// A small policy of `Tests/Cases/policies.txt`, and what some clients get from it.
struct PolicyCase {
    /// A check, and what comes of it.
    struct Expectation {
        /// The line of the file.
        let line: Int
        let check: Check
        let timeZone: String
        /// The keys of the messages in order, with `!` behind those that lock out; nil where the client is refused.
        let sent: String?
        /// The member for which the client is refused.
        let refused: String?
        /// Fields of the messages and explanations of rules.
        var fields: [Field] = []
    }

    /// A field of the message of a rule, or of its explanation.
    struct Field {
        let key: String
        let name: String
        let value: String?
    }

    /// A line that cannot be read.
    struct Fault: Error {
        let line: Int
        let text: String
    }

    static let path = "Tests/Cases/policies.txt"

    /// What the case shows, as a sentence, with the number of its row in the contract.
    let title: String
    private(set) var policy = Policy(revision: 0, token: "", apps: [App(bundle: TestPolicy.bundle)])
    private(set) var expectations: [Expectation] = []

    private init(title: String) { self.title = title }

    /// All cases.
    static func all() throws -> [PolicyCase] {
        let file = try String(contentsOf: RepositoryFile.url(path), encoding: .utf8)
        var cases: [PolicyCase] = []
        for (index, line) in file.components(separatedBy: "\n").enumerated() {
            if line.hasPrefix("## ") {
                cases.append(PolicyCase(title: String(line.dropFirst(3))))
            } else if !line.isEmpty, !line.hasPrefix("#") {
                do {
                    try cases[cases.count - 1].read(line, number: index + 1)
                } catch {
                    throw Fault(line: index + 1, text: "\(line): \(error)")
                }
            }
        }
        return cases
    }
}

// MARK: - Lines

extension PolicyCase {
    /// A word of a line: alone, with a value behind `=`, or with one in JSON behind `:=`.
    private struct Word {
        let name: String
        var value: String?
        var isJSON = false

        /// The words of a line. A value with blanks in it stands between quotation marks.
        static func all(in line: some StringProtocol) -> [Word] {
            String(line).matches(of: #/([^ ":=]+)(:?=)(?:"([^"]*)"|([^ ]*))|[^ ]+/#).map { match in
                guard let name = match.1 else { return Word(name: String(match.0)) }
                let value = match.3 ?? match.4 ?? ""
                return Word(name: String(name), value: CaseText.read(String(value)), isJSON: match.2 == ":=")
            }
        }

        var literal: MemberLiteral {
            switch value ?? "" {
            case let text where !isJSON: .text(text)
            case "null": .null
            case "true": .boolean(true)
            case "false": .boolean(false)
            case let json where json.first.map { $0.isNumber || $0 == "-" } ?? false: .number(json)
            case let json: .composite(json)
            }
        }
    }

    private mutating func read(_ line: String, number: Int) throws {
        let words = Word.all(in: line)
        let (kind, rest) = (words[0].name, words.dropFirst())
        let names = rest.map(\.name)
        switch kind {
        case "app": policy.apps[0] = try Self.record(policy.apps[0], rest)
        case "release":
            var release = try Self.record(TestPolicy.release(names[0]), rest.dropFirst())
            release.id = 0
            policy.releases.append(release)
        case "rule": policy.rules.append(try Self.record(TestPolicy.rule(names[0]), rest.dropFirst()))
        case "link": policy.apps[0].storeLinks.append(StoreLink(platform: names[0], link: names[1]))
        case "text": changeLastRule { $0.texts.append(RuleText(language: names[0], title: names[0], text: names[0])) }
        case "step":
            let step = RolloutStep(at: try Self.some(Timestamp(names[0])), rollout: try Self.some(Percentage(names[1])))
            changeLastRule { $0.steps.append(step) }
        case "check": try readCheck(line, number)
        default:
            let fields = rest.map { word in
                let value = word.value.flatMap { $0.isEmpty ? nil : $0 }
                return Field(key: String(kind.dropLast()), name: word.name, value: value)
            }
            // They are those of each client of the check above.
            let above = expectations.last?.line
            for index in expectations.indices where expectations[index].line == above {
                expectations[index].fields += fields
            }
        }
    }

    private mutating func readCheck(_ line: String, _ number: Int) throws {
        let parts = line.dropFirst("check ".count).components(separatedBy: " -> ")
        let refused = parts[1].hasPrefix("refused ") ? String(parts[1].dropFirst("refused ".count)) : nil
        for text in parts[0].components(separatedBy: " | ") {
            let words = Word.all(in: text)
            let plain = words.filter { $0.value == nil && $0.name != "-" }.map(\.name)
            var client: ClientDescription = [:]
            for word in words where word.value != nil { client.append(word.name, word.literal) }
            if refused == nil, !client.members.contains(where: { $0.name == "bundle" }) {
                client.append("bundle", .text(TestPolicy.bundle))
            }
            let time = try plain.first.map { try Self.some(Timestamp($0)) }
            expectations.append(
                Expectation(
                    line: number, check: Check(client: client, time: time ?? TestPolicy.noon),
                    timeZone: plain.count > 1 ? plain[1] : "UTC",
                    sent: refused == nil ? (parts[1] == "nothing" ? "" : parts[1]) : nil, refused: refused
                )
            )
        }
    }

    private mutating func changeLastRule(_ change: (inout Rule) -> Void) {
        change(&policy.rules[policy.rules.count - 1])
    }
}

// MARK: - Values

extension PolicyCase {
    /// A value that means nothing where it stands.
    private struct Wrong: Error {
        let text: String
    }

    private static func some<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Wrong(text: "no \(Value.self)") }
        return value
    }

    /// A record with the columns that are written. A column alone is true, and one with nothing behind `=` null.
    private static func record<Record: PolicyRecord>(_ example: Record, _ words: ArraySlice<Word>) throws -> Record {
        var record = example
        for word in words {
            guard let column = Record.columns.first(where: { $0.name == word.name }) else {
                throw Wrong(text: "\(Record.table.rawValue) has no column \(word.name)")
            }
            column.set(try value(word.value ?? "true", column.type), in: &record)
        }
        return record
    }

    private static func value(_ text: String, _ type: ColumnType) throws -> PolicyValue {
        if text.isEmpty { return .null }
        switch type {
        case .boolean: return .boolean(text == "true")
        case .integer, .bigInteger: return .integer(try some(Int64(text)))
        case .percentage: return .percentage(try some(Percentage(text)))
        case .time: return .time(try some(Timestamp(text)))
        case .duration: return .duration(try some(DayTimeInterval(text)))
        case .texts, .platforms: return .texts(text.split(separator: ",").map { UTF8Text(String($0)) })
        case .attributes:
            let attributes = try JSONDecoder().decode([String: AcceptedValues].self, from: Data(text.utf8))
            return .attributes(Dictionary(uniqueKeysWithValues: attributes.map { (UTF8Text($0.key), $0.value) }))
        default: return .text(UTF8Text(text))
        }
    }
}
