import Foundation
import Postgres
import TestDatabase
import TestPolicies
import TestSystem
import Testing
import UpdatePolicy

/// Asks SQL and the engine what `Tests/Cases/meanings.tsv` and `Tests/Cases/policies.txt` say.
@Suite("Meanings", .migratedDatabase)
struct MeaningTests {
    private static func location(_ path: String, _ line: Int) -> SourceLocation {
        SourceLocation(fileID: path, filePath: RepositoryFile.url(path).path, line: line, column: 1)
    }

    @Test("SQL and the engine say of texts what each row of the table says", arguments: Meaning.all)
    func rows(_ meaning: Meaning) async throws {
        let asked = try MeaningTable.rows(meaning.table).flatMap { row in
            meaning.questions(row).map { (line: row.line, question: $0) }
        }
        try #require(asked.count >= 10, "\(meaning.table) has only \(asked.count) questions")
        func compare(_ name: String, _ answer: String?, _ line: Int, _ question: Meaning.Question) {
            guard answer.map({ UTF8Text($0) }) != question.expected.map({ UTF8Text($0) }) else { return }
            Issue.record(
                """
                \(meaning.table) of "\(question.a)" and "\(question.b)"
                written: \(question.expected ?? "none")
                \(name): \(answer ?? "none")
                """,
                sourceLocation: Self.location(MeaningTable.path, line)
            )
        }
        if let engine = meaning.engine {
            for (line, question) in asked { compare("the engine", engine(question.a, question.b), line, question) }
        }
        guard let sql = meaning.sql else { return }
        let connection = try await TestDatabase.current.connect()
        if !meaning.setup.isEmpty { try await connection.execute(meaning.setup) }
        let answers = try await connection.query(
            """
            SELECT (\(sql))::text FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS question(a, b, number)
             ORDER BY number
            """,
            [asked.map(\.question.a), asked.map(\.question.b)]
        )
        #expect(answers.count == asked.count)
        for ((line, question), row) in zip(asked, answers) {
            compare("SQL", try row.decode(0, as: String?.self), line, question)
        }
    }

    @Test("Each table of meanings is asked")
    func tables() throws {
        #expect(Set(try MeaningTable.all().map(\.name)) == Set(Meaning.all.map(\.table)))
    }

    @Test("SQL and the engine send and explain what each policy says")
    func policies() async throws {
        let cases = try PolicyCase.all()
        #expect(cases.count > 60)
        let connection = try await TestDatabase.current.connect()
        try await connection.withSession { session in
            let specification = SpecificationSession(session: session)
            // The conditions that fail, and those of which a sentence is asked.
            var (failing, told): (Set<Substring>, Set<Substring>) = ([], [])
            for one in cases {
                try #require(!one.expectations.isEmpty, "\(one.title) has no check")
                let answered = one.expectations.filter { $0.refused == nil }
                for (timeZone, expectations) in Dictionary(grouping: answered, by: \.timeZone) {
                    try specification.withPolicy(one.policy, timeZone: timeZone) { written in
                        #expect(written.refusedRows == 0, "\(one.title)")
                        let policy = try CompiledPolicy(written.read)
                        let answers = try specification.answers(to: expectations.map(\.check))
                        for (expected, sql) in zip(expectations, answers) {
                            let check = expected.check
                            let client = try check.client.client()
                            let engine = try Answer(policy, client, at: check.time)
                            let sentences = policy.explain(client, at: check.time).map { explanation in
                                (explanation.key, explanation.sentence(for: client) { "<\($0)>" })
                            }
                            for (key, _) in sentences {
                                guard let name = sql.field("condition", of: key)?.prefix(while: { $0 != "." }) else {
                                    continue
                                }
                                failing.insert(name)
                                if expected.fields.contains(where: { $0.key == key && $0.name == "says" }) {
                                    told.insert(name)
                                }
                            }
                            let location = Self.location(PolicyCase.path, expected.line)
                            let faults = expected.faults(sql, engine, Dictionary(sentences) { $1 })
                            #expect(faults == [], "\(one.title)\n\(sql)", sourceLocation: location)
                        }
                    }
                }
                for expected in one.expectations where expected.refused != nil { refuse(expected, session) }
            }
            #expect(failing == told)
        }
    }

    private func refuse(_ expected: PolicyCase.Expectation, _ session: PostgresSession) {
        let location = Self.location(PolicyCase.path, expected.line)
        let client = expected.check.client
        let engine = #expect(throws: ClientError.self, sourceLocation: location) { try client.client() }
        #expect(engine?.member == expected.refused, sourceLocation: location)
        let sql = #expect(throws: PostgresError.self, sourceLocation: location) {
            try session.query("SELECT * FROM messages_for($1::jsonb)", [client.json])
        }
        #expect(sql?.sqlState?.rawValue == "22023", sourceLocation: location)
        #expect(sql?.message.contains(expected.refused ?? "?") == true, sourceLocation: location)
    }
}

extension PolicyCase.Expectation {
    /// What of it does not hold for the answers of SQL and of the engine; empty where all of it does.
    ///
    /// - Parameter sentences: What the engine says of each rule.
    func faults(_ sql: Answer, _ engine: Answer, _ sentences: [String: String]) -> [String] {
        var faults: [String] = []
        let sent = sql.messages.map { ($0[0]?.string ?? "") + ($0[4] == "true" ? "!" : "") }.joined(separator: " ")
        if sent != self.sent { faults.append("\(sent) is sent") }
        for field in fields {
            let value = field.name == "says" ? sentences[field.key] : sql.field(field.name, of: field.key)
            if value != field.value { faults.append("\(field.key): \(field.name)=\(value ?? "")") }
        }
        if sql.messages != engine.messages { faults.append("the engine sends\n\(engine)") }
        // jsonb shows such a number in other characters than the client wrote.
        let isShownDifferently = check.client.members.contains { member in
            if case .number(let number) = member.value { number.contains("e") } else { false }
        }
        if !isShownDifferently, sql.explanations != engine.explanations {
            faults.append("the engine explains\n\(engine)")
        }
        return faults
    }
}

extension Answer {
    /// A field of the message of a rule, else of its explanation; `hints` are those of how often the message is shown.
    fileprivate func field(_ name: String, of key: String) -> String? {
        let key = UTF8Text(key)
        if name == "hints" {
            let hints = ["remind", "shows", "skip", "target"].compactMap { hint in
                let value = field(hint, of: key.string)
                return hint == "skip" ? (value == "true" ? hint : nil) : value.map { "\(hint) \($0)" }
            }
            return hints.isEmpty ? nil : hints.joined(separator: ", ")
        }
        if let place = Self.messageFields.firstIndex(of: name) {
            return messages.first { $0[0] == key }?[place]?.string
        }
        guard let place = Self.explanationFields.firstIndex(of: name) else { return "there is no field \(name)" }
        return explanations.first { $0[1] == key }?[place]?.string
    }
}
