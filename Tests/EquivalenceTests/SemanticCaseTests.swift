import Postgres
import TestDatabase
import TestPolicies
import Testing
import UpdatePolicy

/// The contract by example in SQL, and beside the engine; `UpdatePolicyTests` asks the engine alone.
@Suite("Semantic cases in SQL", .migratedDatabase)
struct SemanticCaseTests {
    private let cases = SemanticCases.all

    @Test("SQL and the engine send and explain what each case says")
    func answers() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.withSession { session in
            let specification = SpecificationSession(session: session)
            for semanticCase in cases.policies {
                print("Semantic case, \(semanticCase.testDescription)")
                for (timeZone, checks) in Dictionary(grouping: semanticCase.checks, by: \.timeZone) {
                    try specification.withPolicy(semanticCase.policy, timeZone: timeZone) { written in
                        #expect(written.refusedRows == 0)
                        let engine = try CompiledPolicy(written.read)
                        for (expected, sql) in zip(checks, try specification.answers(to: checks.map(\.check))) {
                            try expect(expected, of: semanticCase, sql, engine)
                        }
                    }
                }
            }
        }
    }

    private func expect(
        _ expected: SemanticCase.Expectation,
        of semanticCase: SemanticCase,
        _ sql: Answer,
        _ policy: CompiledPolicy
    ) throws {
        let check = expected.check
        let engine = try Answer(policy, check.client.client(), at: check.time)
        let comment: Comment = "\(semanticCase.testDescription), \(check.json)\n\(sql)"
        let messages = sql.messages.map { row in
            Message(
                id: row[0]?.string ?? "", title: row[1]?.string ?? "", text: row[2]?.string ?? "", link: row[3]?.string,
                lockout: row[4] == "true", until: row[5].flatMap { Int64($0.string) }, hints: Self.hints(row)
            )
        }
        let faults = expected.faults(messages) { key in
            let row = sql.explanations.first { $0[1]?.string == key }
            return [row?[2], row?[3], row?[7].map { UTF8Text("rollout \($0)") }].compactMap { $0?.string }
        }
        #expect(faults == [], comment)
        #expect(sql.messages == engine.messages, comment)
        if !expected.isShownDifferently { #expect(sql.explanations == engine.explanations, comment) }
    }

    private static func hints(_ row: Answer.Row) -> MessageHints? {
        guard row[6] != nil || row[7] != nil || row[8] == "true" else { return nil }
        return MessageHints(
            remind: row[6].flatMap { Int64($0.string) }, shows: row[7].flatMap { Int64($0.string) },
            skip: row[8] == "true", target: row[9]?.string
        )
    }

    @Test("Versions compare in SQL as the cases say, each with each")
    func compares() async throws {
        let connection = try await TestDatabase.current.connect()
        for order in cases.orders {
            for (a, b, expected) in order.pairs {
                let sql = try await connection.query("SELECT version_compare($1, $2)::int8", [a, b])
                #expect(try sql.value(as: Int?.self) == expected, "row \(order.row): \(a) and \(b)")
            }
        }
    }

    @Test("Ranges hold in SQL what the cases say")
    func holds() async throws {
        let connection = try await TestDatabase.current.connect()
        for range in cases.ranges {
            for (version, isHeld) in range.versions {
                let sql = try await connection.query("SELECT version_matches($1, $2) IS TRUE", [version, range.range])
                #expect(try sql.value(as: Bool.self) == isHeld, "row \(range.row): \(version) in \(range.range)")
            }
        }
    }

    @Test("A text that is no range is refused in SQL with a hint")
    func refusesRange() async throws {
        let connection = try await TestDatabase.current.connect()
        for wrong in cases.wrongRanges {
            let row = try #require(
                try await connection.query("SELECT * FROM versiongate_internal.version_range_error($1)", [wrong.range])
                    .first
            )
            #expect(try row["hint", String.self].contains(wrong.hint), "row \(wrong.row): \"\(wrong.range)\"")
        }
    }

    @Test("What is refused is answered in SQL with a range that means what was meant, or with none")
    func suggestsRange() async throws {
        let connection = try await TestDatabase.current.connect()
        for meant in cases.meantRanges {
            let comment: Comment = "row \(meant.row): \(meant.range)"
            let row = try #require(
                try await connection.query("SELECT * FROM versiongate_internal.version_range_error($1)", [meant.range])
                    .first
            )
            #expect(try row["message", String.self].contains(meant.names), comment)
            let hint = try row["hint", String.self]
            let suggestion = hint.hasSuffix(".") ? nil : hint.split(separator: ": ").last.map(String.init)
            #expect((suggestion == nil) == meant.means.isEmpty, comment)
            guard let suggestion else { continue }
            let meaning = try #require(VersionRange(meant.means), comment)
            for version in SemanticCases.MeantRange.versions {
                let isHeld = meaning.contains(try #require(AppVersion(version)))
                let sql = try await connection.query("SELECT version_matches($1, $2)", [version, suggestion])
                #expect(try sql.value(as: Bool.self) == isHeld, "row \(meant.row): \(version) in \(suggestion)")
            }
        }
    }

    @Test("Countries are read in SQL from locales")
    func readsRegion() async throws {
        let connection = try await TestDatabase.current.connect()
        for region in cases.regions {
            let sql = try await connection.query("SELECT versiongate_internal.country_of_region($1)", [region.sent])
            #expect(try sql.value(as: String?.self) == region.country, "row \(region.row): \(region.sent)")
        }
    }

    @Test("A known member of a wrong type is refused in SQL by name")
    func refusesClient() async throws {
        let connection = try await TestDatabase.current.connect()
        for wrong in cases.wrongClients {
            let comment: Comment = "row \(wrong.row): \(wrong.client.json)"
            let error = await #expect(throws: PostgresError.self, comment) {
                try await connection.query("SELECT * FROM messages_for($1::jsonb)", [wrong.client.json])
            }
            #expect(error?.sqlState?.rawValue == "22023", comment)
            #expect(error?.message.contains(wrong.names) == true, comment)
        }
    }

    @Test("Buckets are in SQL those of the contract")
    func buckets() async throws {
        let connection = try await TestDatabase.current.connect()
        for bucket in cases.buckets {
            let sql = try await connection.query("SELECT rollout_bucket($1, $2)::int8", [bucket.key, bucket.install])
            #expect(try sql.value(as: Int.self) == bucket.bucket, "row \(bucket.row): \(bucket.key)")
        }
    }

    @Test("A percentage that would be rounded, or is none, is refused in SQL")
    func refusesPercentage() async throws {
        let connection = try await TestDatabase.current.connect()
        for wrong in cases.wrongPercentages {
            await #expect(throws: PostgresError.self, "row \(wrong.row): \(wrong.percentage)") {
                try await connection.execute(
                    "INSERT INTO rules (key, title, text, rollout) VALUES ('r', 't', 'x', '\(wrong.percentage)')"
                )
            }
        }
    }
}
