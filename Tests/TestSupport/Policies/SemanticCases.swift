import Testing
package import UpdatePolicy

/// The contract by example, in `Tests/Vectors/semantic-cases.json`: what SQL and the engine must both answer.
///
/// Each case has the number of its row in the contract.
package struct SemanticCases: Decodable, Sendable {
    /// Small policies, and what some clients get from them.
    package let policies: [SemanticCase]
    /// Versions from the least to the greatest, joined by `<`; equal ones joined by `=`.
    package let orders: [Order]
    /// Ranges, versions in them and versions out of them.
    package let ranges: [RangeCase]
    /// Texts that are no range, and a part of the hint.
    package let wrongRanges: [WrongRange]
    /// Texts that are no range, the part at fault, and a range that means what was meant; empty where there is none.
    package let meantRanges: [MeantRange]
    /// What clients send as region, and the country in it.
    package let regions: [RegionCase]
    /// Clients that are refused, and the member at fault.
    package let wrongClients: [WrongClient]
    /// Rules, installs, and the bucket of each.
    package let buckets: [BucketCase]
    /// Percentages that are refused.
    package let wrongPercentages: [WrongPercentage]

    private enum CodingKeys: String, CodingKey {
        case policies, orders, ranges, regions, buckets
        case wrongRanges = "wrong_ranges"
        case meantRanges = "meant_ranges"
        case wrongClients = "wrong_clients"
        case wrongPercentages = "wrong_percentages"
    }

    package struct Order: Decodable, Sendable {
        package let row: Int
        package let versions: String

        /// Each two versions, and -1, 0 or 1 as the first is less than, equal to or greater than the second.
        package var pairs: [(a: String, b: String, order: Int)] {
            let places = versions.split(separator: " < ").enumerated().flatMap { place, equals in
                equals.split(separator: " = ").map { (place: place, version: String($0)) }
            }
            return places.flatMap { a in
                places.map { b in (a.version, b.version, a.place < b.place ? -1 : a.place > b.place ? 1 : 0) }
            }
        }
    }

    package struct RangeCase: Decodable, Sendable {
        package let row: Int
        package let range: String
        package let holds: [String]
        package let excludes: [String]

        /// The versions, and whether the range holds each.
        package var versions: [(version: String, isHeld: Bool)] {
            holds.map { ($0, true) } + excludes.map { ($0, false) }
        }
    }

    package struct WrongRange: Decodable, Sendable {
        package let row: Int
        package let range: String
        package let hint: String
    }

    package struct MeantRange: Decodable, Sendable {
        package let row: Int
        package let range: String
        package let names: String
        package let means: String

        /// Versions by which it is seen whether two ranges mean the same.
        package static let versions = [
            "0", "1", "1.1", "1.2", "1.2-beta", "1.2.3", "1.2.4", "1.9", "1.9.1", "2", "99", "100", "110",
        ]
    }

    package struct RegionCase: Decodable, Sendable {
        package let row: Int
        package let sent: String
        package let country: String
    }

    package struct WrongClient: Decodable, Sendable {
        package let row: Int
        package let client: ClientDescription
        package let names: String
    }

    package struct BucketCase: Decodable, Sendable {
        package let row: Int
        package let key: String
        package let install: String
        package let bucket: Int
    }

    package struct WrongPercentage: Decodable, Sendable {
        package let row: Int
        package let percentage: String
    }

    /// All of them.
    package static let all: SemanticCases = {
        do {
            return try Vectors.decode("semantic-cases.json")
        } catch {
            preconditionFailure("Tests/Vectors/semantic-cases.json cannot be read: \(error)")
        }
    }()
}

/// A small policy and what some clients get from it.
package struct SemanticCase: Decodable, Sendable, CustomTestStringConvertible {
    /// The row of the contract.
    package let row: Int
    /// What the case shows, as a sentence.
    package let holds: String
    package let policy: Policy
    package let checks: [Expectation]

    package var testDescription: String { "row \(row): \(holds)" }

    /// A check and what comes of it.
    package struct Expectation: Decodable, Sendable {
        package let check: Check
        /// The keys of the messages in order, with `!` behind those that lock out.
        package let sent: String
        package let titles: [String]?
        package let texts: [String]?
        package let links: [String?]?
        package let hints: [MessageHints?]?
        /// When the lockouts end.
        package let until: [Int64?]?
        /// What is explained of some rules: their outcome, the condition that failed, or the rollout.
        package let explained: [String: String]
        /// The time zone of the session in SQL, on which nothing depends.
        package let timeZone: String
        /// True where `jsonb` shows a member in other characters than the client wrote.
        package let isShownDifferently: Bool

        private enum Name: String, CodingKey {
            case client, at, sent, titles, texts, links, hints, until, explained
            case timeZone = "time_zone"
            case isShownDifferently = "shown_differently"
        }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            var client = try container.decode(ClientDescription.self, forKey: .client)
            if !client.members.contains(where: { $0.name == "bundle" }) {
                client.append("bundle", .text(TestPolicy.bundle))
            }
            let time = try container.decodeIfPresent(String.self, forKey: .at).map { text in
                guard let time = Timestamp(text) else { throw Wrong(text: text) }
                return time
            }
            check = Check(client: client, time: time ?? TestPolicy.noon)
            sent = try container.decode(String.self, forKey: .sent)
            titles = try container.decodeIfPresent([String].self, forKey: .titles)
            texts = try container.decodeIfPresent([String].self, forKey: .texts)
            links = try container.decodeIfPresent([String?].self, forKey: .links)
            hints = try container.decodeIfPresent([Hints?].self, forKey: .hints)?.map { hints in
                hints.map {
                    MessageHints(remind: $0.remind, shows: $0.shows, skip: $0.skip ?? false, target: $0.target)
                }
            }
            until = try container.decodeIfPresent([Int64?].self, forKey: .until)
            explained = try container.decodeIfPresent([String: String].self, forKey: .explained) ?? [:]
            timeZone = try container.decodeIfPresent(String.self, forKey: .timeZone) ?? "UTC"
            isShownDifferently = try container.decodeIfPresent(Bool.self, forKey: .isShownDifferently) ?? false
        }

        /// The hints of a message, under the names of its members.
        private struct Hints: Decodable {
            let remind: Int64?
            let shows: Int64?
            let skip: Bool?
            let target: String?
        }

        /// What of the expectation does not hold for an answer; empty where all of it does.
        ///
        /// - Parameters:
        ///   - messages: The messages in order.
        ///   - explained: What is said of a rule: outcome, condition, `rollout X`.
        package func faults(_ messages: [Message], explained: (_ key: String) -> [String]) -> [String] {
            func fault<Value: Equatable>(_ name: String, _ expected: Value?, _ actual: Value) -> String? {
                expected == nil || expected == actual ? nil : "\(name): \(actual) instead of \(expected!)"
            }
            let sent = messages.map { $0.id + ($0.lockout ? "!" : "") }.joined(separator: " ")
            return [
                fault("sent", self.sent, sent), fault("titles", titles, messages.map(\.title)),
                fault("texts", texts, messages.map(\.text)), fault("links", links, messages.map(\.link)),
                fault("hints", hints, messages.map(\.hints)), fault("until", until, messages.map(\.until)),
            ].compactMap(\.self)
                + self.explained.sorted { $0.key < $1.key }.filter { !explained($0.key).contains($0.value) }.map {
                    "explained of \($0.key): \(explained($0.key)) instead of \($0.value)"
                }
        }
    }

    private enum Name: CodingKey {
        case row, holds, app, releases, rules, checks
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        row = try container.decode(Int.self, forKey: .row)
        holds = try container.decode(String.self, forKey: .holds)
        checks = try container.decode([Expectation].self, forKey: .checks)
        var app = App(bundle: TestPolicy.bundle)
        if let row = try container.decodeIfPresent(Row.self, forKey: .app) {
            app = try row.record(from: app)
            app.storeLinks = try row.records("store_links")
        }
        let releases = try container.decodeIfPresent([Row].self, forKey: .releases) ?? []
        let rules = try container.decode([Row].self, forKey: .rules)
        policy = Policy(
            revision: 0,
            token: "",
            apps: [app],
            releases: try releases.map { row in
                var release = try row.record(from: TestPolicy.release(""))
                release.id = 0
                return release
            },
            rules: try rules.map { row in
                var rule = try row.record(from: TestPolicy.rule(row.key ?? ""))
                rule.texts = try row.records("texts")
                rule.steps = try row.records("steps")
                return rule
            }
        )
    }

    /// A value that means nothing where it stands.
    private struct Wrong: Error {
        let text: String
    }

    /// A row of a table: the columns whose values are not those of the records of ``TestPolicy``, by name.
    private struct Row: Decodable {
        private enum Value: Decodable {
            case null
            case boolean(Bool)
            case number(Int64)
            case text(String)
            case list([String])
            case attributes([String: [String]])
            case rows([Row])

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if container.decodeNil() {
                    self = .null
                } else if let value = try? container.decode(Bool.self) {
                    self = .boolean(value)
                } else if let value = try? container.decode(Int64.self) {
                    self = .number(value)
                } else if let value = try? container.decode(String.self) {
                    self = .text(value)
                } else if let value = try? container.decode([String].self) {
                    self = .list(value)
                } else if let value = try? container.decode([String: [String]].self) {
                    self = .attributes(value)
                } else {
                    self = .rows(try container.decode([Row].self))
                }
            }

            func value(_ type: ColumnType) throws -> PolicyValue {
                switch (self, type) {
                case (.null, _): return .null
                case (.boolean(let value), .boolean): return .boolean(value)
                case (.number(let value), .integer), (.number(let value), .bigInteger): return .integer(value)
                case (.text(let text), .percentage):
                    if let percentage = Percentage(text) { return .percentage(percentage) }
                case (.text(let text), .time): if let time = Timestamp(text) { return .time(time) }
                case (.text(let text), .duration): if let time = DayTimeInterval(text) { return .duration(time) }
                case (.text(let text), _): return .text(UTF8Text(text))
                case (.list(let texts), .texts), (.list(let texts), .platforms):
                    return .texts(texts.map { UTF8Text($0) })
                case (.attributes(let values), .attributes):
                    return .attributes(
                        Dictionary(
                            uniqueKeysWithValues: values.map { name, values in
                                (UTF8Text(name), values.map { UTF8Text($0) })
                            }
                        )
                    )
                default: break
                }
                throw Wrong(text: "\(self) is no value of the type \(type)")
            }
        }

        private var values: [String: Value]

        init(from decoder: any Decoder) throws {
            values = try decoder.singleValueContainer().decode([String: Value].self)
        }

        var key: String? {
            if case .text(let key)? = values["key"] { key } else { nil }
        }

        /// The records that belong to this one.
        func records<Record: PolicyRecord>(_ name: String, of type: Record.Type = Record.self) throws -> [Record] {
            guard case .rows(let rows)? = values[name] else { return [] }
            return try rows.map { try $0.record(from: Record.blank) }
        }

        /// A record with the columns of this row.
        func record<Record: PolicyRecord>(from example: Record) throws -> Record {
            var record = example
            for (name, value) in values {
                if case .rows = value { continue }
                guard let column = Record.columns.first(where: { $0.name == name }) else {
                    throw Wrong(text: "\(Record.table.rawValue) has no column \(name)")
                }
                column.set(try value.value(column.type), in: &record)
            }
            return record
        }
    }
}
