// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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

    @Test("SQL and the engine refuse the same texts, with the same message and hint")
    func faults() async throws {
        let count = Trials.isWhole ? 5_000 : 1_000
        var random = SeededGenerator()
        let seed = random.seed
        let texts =
            try Vectors.cases("range-errors", as: Vectors.RangeFault.self).map(\.range)
            + (0..<count).map { _ in Self.text(&random) }
        let connection = try await TestDatabase.current.connect()
        let rows = try await connection.query(
            """
            SELECT error.message, error.hint
              FROM unnest($1::text[]) WITH ORDINALITY AS texts(range, number), versiongate_internal.version_range_error(range) AS error
             ORDER BY number
            """,
            [texts]
        )
        var suggestions = 0
        for (text, row) in zip(texts, rows) {
            let (message, hint) = (try row["message", String?.self], try row["hint", String?.self])
            do throws(VersionRangeError) {
                _ = try VersionRange(text)
                #expect(message == nil && hint == nil, "\"\(text)\", seed \(seed)")
            } catch {
                #expect(message.map { UTF8Text($0) } == UTF8Text(error.message), "\"\(text)\", seed \(seed)")
                #expect(hint.map { UTF8Text($0) } == UTF8Text(error.hint), "\"\(text)\", seed \(seed)")
                if error.suggestion != nil { suggestions += 1 }
            }
        }
        #expect(rows.count == texts.count && suggestions > count / 50)
    }
}
