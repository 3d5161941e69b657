import Postgres
import TestDatabase
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@Suite("Range refusals", .migratedDatabase)
struct RangeFaultTests {
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
            try Vectors.cases("range-errors", as: Vectors.RangeFault.self).map(\.range)
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
}
