import Postgres
import TestDatabase
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@Suite("Random versions and ranges", .migratedDatabase)
struct RandomVersionTests {
    private static let pieces = [
        "1", "1.2", "1.2.3", "1.x", "x", "*", "1.2x", "1x2", "v1.2", "1.2-beta", "1.2b3", "1.2-1.4", "100-120", "1.x-2",
        "1.x.3", "-", "-", "<", "<=", ">", ">=", "=", "~", "^", "=<", "=>", "==", "!=", "<>", "!", "~>", "~=", ",", ",",
        "|", "||", "||", "&", "&&", "and", "or", "AND", "below", "Above", "later", "older", "(45)", "+45", ".", "v",
        "e\u{301}", "\u{301}", "'", "\n",
        "\r\n",
        String(repeating: "9", count: 127) + "\u{E9}",
    ]

    private static func text(_ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...6, using: &random)).map { _ in
            random.pick(pieces) + random.pick(["", "", " ", " ", "  ", "\t"])
        }.joined()
    }

    @Test("SQL and the engine refuse the same texts")
    func faults() async throws {
        let count = Trials.areLong ? 5_000 : 1_000
        var random = SeededGenerator()
        let seed = random.seed
        let texts =
            try MeaningTable.rows("refused range").map { $0.text("range") ?? "" }
            + (0..<count).map { _ in Self.text(&random) }
        let connection = try await TestDatabase.current.connect()
        let rows = try await connection.query(
            """
            SELECT (versiongate_internal.version_range_error(range)).message IS NULL
              FROM unnest($1::text[]) WITH ORDINALITY AS texts(range, number)
             ORDER BY number
            """,
            [texts]
        )
        var read = 0
        for (text, row) in zip(texts, rows) {
            let isRead = try row.decode(0, as: Bool.self)
            #expect(isRead == (VersionRange(text) != nil), "\"\(text)\", seed \(seed)")
            if isRead { read += 1 }
        }
        #expect(rows.count == texts.count && read > count / 50)
    }

    @Test("SQL and the engine compare any two versions alike")
    func order() async throws {
        var random = SeededGenerator()
        let seed = random.seed
        let pairs = (0..<Trials.count(20_000)).map { _ in
            let left = RandomVersion.text(&random)
            let isNear = random.chance(30)
            return (left, isNear ? left + random.pick([".0", ".1", "", ".0.0"]) : RandomVersion.text(&random))
        }
        let rows = try await TestDatabase.current.connect().query(
            """
            SELECT version_compare(a, b)::int8 FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS pair(a, b, number)
             ORDER BY number
            """,
            [pairs.map(\.0), pairs.map(\.1)]
        )
        var orders: [Int?: Int] = [:]
        for ((left, right), row) in zip(pairs, rows) {
            let (a, b) = (AppVersion(left), AppVersion(right))
            let order = a.flatMap { a in b.map { a < $0 ? -1 : $0 < a ? 1 : 0 } }
            #expect(try row.decode(0, as: Int?.self) == order, "\(left) and \(right), seed \(seed)")
            orders[order, default: 0] += 1
        }
        #expect(Set(orders.keys) == [nil, -1, 0, 1], "seed \(seed)")
    }

    @Test("Any range holds the same versions in SQL and in the engine")
    func ranges() async throws {
        var random = SeededGenerator()
        let seed = random.seed
        var asked: [(range: VersionRange, version: String)] = []
        for _ in 0..<Trials.count(3_000) {
            let (text, bounds) = RandomVersion.range(&random)
            guard let range = VersionRange(text) else { continue }
            asked += (bounds + (0..<10).map { _ in RandomVersion.text(&random) }).map { (range, $0) }
        }
        let rows = try await TestDatabase.current.connect().query(
            """
            SELECT version_matches(version, range) IS TRUE
              FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS pair(range, version, number)
             ORDER BY number
            """,
            [asked.map(\.range.text), asked.map(\.version)]
        )
        var held = 0
        for ((range, version), row) in zip(asked, rows) {
            let isHeld = AppVersion(version).map(range.contains) ?? false
            #expect(try row.decode(0, as: Bool.self) == isHeld, "\(version) in \(range.text), seed \(seed)")
            if isHeld { held += 1 }
        }
        #expect(held > asked.count / 10 && held < asked.count * 9 / 10, "seed \(seed)")
    }
}
