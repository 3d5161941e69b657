// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import Postgres
import TestDatabase
import Testing
import UpdatePolicy

@Suite("The contract by example", .migratedDatabase)
struct SemanticCaseTests {
    @Test(
        "SQL and the engine send and explain what the case says",
        arguments: SemanticCase.rules + SemanticCase.releases
    )
    func answers(_ semanticCase: SemanticCase) async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.withSession { session in
            let specification = SpecificationSession(session: session)
            for ask in semanticCase.asks {
                let (sql, engine) = try specification.withPolicy(semanticCase.policy, timeZone: ask.timeZone) {
                    written in
                    #expect(written.refusedRows == 0)
                    let engine = try Answer(
                        CompiledPolicy(written.read),
                        ask.check.client.client(),
                        at: ask.check.time
                    )
                    return (try specification.answers(to: [ask.check])[0], engine)
                }
                expect(sql, ask, "SQL")
                expect(engine, ask, "engine")
                #expect(sql.messages == engine.messages)
                if ask.comparesExplanations { #expect(sql.explanations == engine.explanations) }
            }
        }
    }

    private func expect(_ answer: Answer, _ ask: SemanticCase.Ask, _ side: String) {
        let comment: Comment = "\(side), \(ask.check.json)\n\(answer)"
        let sent = answer.messages.map { ($0[0]?.string ?? "") + ($0[4] == "true" ? "!" : "") }
        #expect(sent.joined(separator: " ") == ask.sent, comment)
        if let titles = ask.titles { #expect(answer.messages.map { $0[1]?.string } == titles, comment) }
        if let links = ask.links { #expect(answer.messages.map { $0[3]?.string } == links, comment) }
        for (key, expected) in ask.explained {
            let row = answer.explanations.first { $0[1]?.string == key }
            let told = [row?[2], row?[3], row?[7].map { "rollout \($0)" }.map { UTF8Text($0) }].compactMap {
                $0?.string
            }
            #expect(told.contains(expected), comment)
        }
    }

    /// Rows 1 to 4: versions and their order, each chain from the least to the greatest, equal ones joined by `=`.
    static let chains = [
        "1 = 1.0 = 1.00.0", "1.9 < 1.10", "v1.2 = 1.2 = 01.2", "99999999999999999999 < 100000000000000000000",
        """
        1.2-0 < 1.2-1 < 1.2-10 < 1.2-RC.1 < 1.2b9 < 1.2b10 < 1.2-beta < 1.2-beta.1 < 1.2 < 1.2.0.1-beta < 1.2.0.1
        """,
        "1.2-beta10 < 1.2-beta9", "1.2b3 = 1.2-b.3", "1.2 rc1 = 1.2rc1", "1.2.0+45 = 1.2.0 (46)",
        "3.3.1b1 (5902) < 3.3.1", "1.2.0-45 < 1.2.0", "1.2.0-prod < 1.2.0",
    ]

    @Test("Rows 1 to 4: versions compare as the chains say, each with each")
    func compares() async throws {
        let connection = try await TestDatabase.current.connect()
        for chain in Self.chains {
            let places = chain.split(separator: " < ").enumerated().flatMap { place, equals in
                equals.split(separator: " = ").map { (place: place, version: String($0)) }
            }
            for (a, b) in places.flatMap({ a in places.map { (a, $0) } }) {
                let order = a.place < b.place ? -1 : a.place > b.place ? 1 : 0
                let sql = try await connection.query("SELECT version_compare($1, $2)::int8", [a.version, b.version])
                #expect(try sql.value(as: Int?.self) == order, "\(a.version) and \(b.version) in SQL")
                let (left, right) = (try #require(AppVersion(a.version)), try #require(AppVersion(b.version)))
                #expect(
                    (left < right ? -1 : right < left ? 1 : 0) == order,
                    "\(a.version) and \(b.version) in the engine"
                )
            }
        }
    }

    /// Rows 7 to 12 and 14: a range, versions in it, versions out of it.
    static let ranges: [(range: String, inside: [String], outside: [String])] = [
        ("<1.2", ["1.2-beta", "1.1.99"], ["1.2", "1.2.0.0"]),
        ("1.2.x", ["1.2-0", "1.2", "1.2.9.9"], ["1.3-beta", "1.3"]),
        ("1.2.*", ["1.2-0", "1.2", "1.2.9.9"], ["1.3-beta", "1.3"]),
        ("=1.2", ["1.2.0"], ["1.2.1"]),
        ("<=1.2", ["1.2"], ["1.2.5"]),
        (">1.2", ["1.2.1"], ["1.2"]),
        ("1.2 - 1.4", ["1.4"], ["1.2-beta", "1.4.1"]),
        ("1.2 - 1.4.x", ["1.4.9"], ["1.5-beta"]),
        ("~1.2.3", ["1.2.3", "1.2.99"], ["1.3-0", "1.2.3-beta"]),
        ("~1.2", ["1.2", "1.2.99"], ["1.3-0", "1.2-beta"]),
        ("~1", ["1", "1.99"], ["2-0", "1-beta"]),
        ("~1.2.3.4", ["1.2.3.4", "1.2.99"], ["1.3-0", "1.2.3.3"]),
        ("^1.2.3", ["1.2.3", "1.99"], ["2-0", "1.2.3-beta"]),
        ("^0.2.3", ["0.2.3", "0.2.99"], ["0.3-0", "0.2.2"]),
        ("^0.0.3", ["0.0.3", "0.0.3.9"], ["0.0.4-0", "0.0.2"]),
        ("^0.0", ["0.0", "0.0.99"], ["0.1-0", "0-beta"]),
        ("^0", ["0", "0.99"], ["1-0", "0-beta"]),
        ("^0.0.0.3", ["0.0.0.3", "0.0.0.3.1"], ["0.0.0.4-0", "0.0.0.2"]),
        (">1.2.x", ["1.3-0", "1.3"], ["1.2.9", "1.2"]),
        ("<=1.2.x", ["1.2.5", "1.1"], ["1.3-0"]),
        ("<1.2.x", ["1.1"], ["1.2-0", "1.2"]),
        (">=1.2.x", ["1.2-0", "2"], ["1.1.9"]),
        (">=2.3 <2.3.5 || 3.x", ["2.3.5-rc1", "3.0-beta"], ["2.3-beta", "2.3.5", "4-0"]),
        ("*", ["0-0", "1"], ["", "1.", "abc", "-1", "1.2-"]),
    ]

    @Test("Rows 7 to 12 and 14: ranges hold what the case says")
    func holds() async throws {
        let connection = try await TestDatabase.current.connect()
        for (range, inside, outside) in Self.ranges {
            let parsed = try VersionRange(range)
            for (version, isInside) in inside.map({ ($0, true) }) + outside.map({ ($0, false) }) {
                let sql = try await connection.query("SELECT version_matches($1, $2) IS TRUE", [version, range])
                #expect(try sql.value(as: Bool.self) == isInside, "\(version) in \(range), SQL")
                let engine = AppVersion(version).map(parsed.contains) ?? false
                #expect(engine == isInside, "\(version) in \(range), engine")
            }
        }
    }

    /// Row 13: texts that are no range, and what the hint must say.
    static let wrongRanges: [(range: String, hint: String)] = [
        ("", "NULL"), (" ", "*"), ("<1..2", ""), ("||1.2", "||"), ("1.2 ||", "||"), (">=1,<2", "space"), ("!=1.2", ""),
        ("1.2-1.4", "spaces"), ("1.2 (45)", ""), ("1.3x", "1.3.x"), ("1.x.3", ""), (">2 <1", ""), ("<*", ""),
    ]

    @Test("Row 13: a text that is no range is refused with a hint")
    func refusesRange() async throws {
        let connection = try await TestDatabase.current.connect()
        for (range, hint) in Self.wrongRanges {
            let row = try #require(try await connection.query("SELECT * FROM version_range_error($1)", [range]).first)
            #expect(try row["hint", String.self].contains(hint), "\"\(range)\" in SQL")
            let error = #expect(throws: VersionRangeError.self, "\(range)") { try VersionRange(range) }
            #expect(error?.hint.contains(hint) == true, "\"\(range)\" in the engine")
        }
    }

    /// Row 42: texts that are taken for a range, or refused with a token and a range that means the same.
    static let meantRanges: [(range: String, token: String, suggestion: String)] = [
        ("100-120", "100-120", "100 - 120"), (">=1.1 <2 !=1.2.3", "!=", ">=1.1 <1.2.3 || >1.2.3 <2"),
        ("=<1.2", "=<", "<=1.2"), ("1.1,1.2", "1.1,1.2", "1.1 || 1.2"),
        ("1.0.0 - 2.0.0 <=1.9", "1.0.0 - 2.0.0 <=1.9", ">=1.0.0 <=1.9"), ("=>1.2", "=>", ">=1.2"),
        ("==1.2", "==", "=1.2"), ("~=1.2.3", "~=", "~1.2.3"), ("builds", "builds", ""),
    ]

    @Test("Row 42: what is refused is answered with a range that means what was meant, or with none")
    func suggestsRange() async throws {
        let connection = try await TestDatabase.current.connect()
        #expect(try VersionRange("=100-120").contains(try #require(AppVersion("100-120"))))
        for (range, token, meant) in Self.meantRanges {
            let row = try #require(try await connection.query("SELECT * FROM version_range_error($1)", [range]).first)
            #expect(try row["message", String.self].contains(token), "\(range)")
            let refusal = #expect(throws: VersionRangeError.self, "\(range)") { try VersionRange(range) }
            let error = try #require(refusal)
            #expect(try row["hint", String.self] == error.hint && row["message", String.self] == error.message)
            guard let suggestion = error.suggestion else {
                #expect(meant.isEmpty, "\(range)")
                continue
            }
            #expect(error.hint.hasSuffix(": \(suggestion)"))
            for version in [
                "0", "1", "1.1", "1.2", "1.2-beta", "1.2.3", "1.2.4", "1.9", "1.9.1", "2", "99", "100", "110",
            ] {
                let isHeld = try VersionRange(meant).contains(try #require(AppVersion(version)))
                let sql = try await connection.query("SELECT version_matches($1, $2)", [version, suggestion])
                #expect(try sql.value(as: Bool.self) == isHeld, "\(version) in \(suggestion), SQL")
                let engine = try VersionRange(suggestion).contains(try #require(AppVersion(version)))
                #expect(engine == isHeld, "\(version) in \(suggestion), engine")
            }
        }
    }

    /// Row 15: what clients send as region, and the country in it.
    static let regions = [
        ("JP", "JP"), ("ja_JP", "JP"), ("zh-Hant-TW", "TW"), ("en_US_POSIX", "US"), ("de_DE@currency=EUR", "DE"),
        ("de_DE.UTF-8", "DE"), ("zh-yue-HK", "HK"), ("EN-us", "US"),
    ]

    @Test("Row 15: countries are read from locales")
    func readsRegion() async throws {
        let connection = try await TestDatabase.current.connect()
        for (text, country) in Self.regions {
            let sql = try await connection.query("SELECT country_of_region($1)", [text])
            #expect(try sql.value(as: String?.self) == country, "\(text) in SQL")
            #expect(Region(locale: text)?.code == country, "\(text) in the engine")
        }
    }

    /// Row 19: clients that cannot be asked about, and the member at fault.
    static let wrongClients: [(ClientDescription, member: String)] = [
        (["bundle": "a", "region": .number("5")], "region"), (["bundle": "a", "os": .composite("[\"17\"]")], "os"),
        (["bundle": "a", "install": .number("7")], "install"), (["bundle": ""], "bundle"), ([:], "bundle"),
        (["bundle": .null], "bundle"),
    ]

    @Test("Row 19: a known member of a wrong type is refused by name")
    func refusesClient() async throws {
        let connection = try await TestDatabase.current.connect()
        for (client, member) in Self.wrongClients {
            let error = await #expect(throws: PostgresError.self, "\(client.json)") {
                try await connection.query("SELECT * FROM messages_for($1::jsonb)", [client.json])
            }
            #expect(error?.sqlState?.rawValue == "22023", "\(client.json)")
            #expect(error?.message.contains(member) == true, "\(client.json)")
            let engineError = #expect(throws: ClientError.self, "\(client.json)") { try client.client() }
            #expect(engineError?.member == member, "\(client.json)")
        }
    }

    @Test("Row 24: buckets are those of the contract")
    func buckets() async throws {
        let connection = try await TestDatabase.current.connect()
        for (key, install, bucket) in [
            ("security-2.3", "install-1", 456), ("security-2.3", "\u{E9}", 3045), ("k", "abc", 2448),
        ] {
            let sql = try await connection.query("SELECT rollout_bucket($1, $2)::int8", [key, install])
            #expect(try sql.value(as: Int.self) == bucket)
            #expect(Bucket(key: key, install: UTF8Text(install)).number == bucket)
        }
    }

    @Test("Row 39: a member that is there twice is refused")
    func duplicates() throws {
        let error = #expect(throws: ClientError.self) {
            try (["bundle": "a", "bundle": "b"] as ClientDescription).client()
        }
        #expect(error?.reason == .duplicate)
    }
}
