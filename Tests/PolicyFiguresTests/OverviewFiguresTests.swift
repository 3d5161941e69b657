// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures
import PolicyStore
import Postgres
import TestDatabase
import TestRandom
import Testing

@Suite("Overview figures", .migratedDatabase)
struct OverviewFiguresTests {
    @Test("The overview has the checks of the last 24 hours that SQL counts, most lockouts first")
    func apps() async throws {
        let connection = try await TestDatabase.current.connect()
        var random = FuzzRun.generator()
        try await connection.execute(
            "INSERT INTO apps (bundle, name, paused) SELECT 'App' || n, 'N' || n, n % 5 = 0 FROM generate_series(1, 20) AS n"
        )
        let rows = (0..<300).map { row in
            let checks = Int.random(in: 0...100, using: &random)
            let lockouts = random.chance(50) ? 0 : Int.random(in: 0...checks, using: &random)
            return "(now() - interval '\(Int.random(in: -60...2_880, using: &random)) minutes', 'app\(row % 19)',"
                + " 'v\(row)', \(checks), \(checks), \(lockouts))"
        }
        try await connection.execute(
            """
            INSERT INTO check_counts (hour, bundle, version, checks, messages, lockouts)
            VALUES \(rows.joined(separator: ", "))
            """
        )
        let (figures, expected) = try await connection.transaction(.repeatableReadReadOnly) { session in
            let expected = try session.query(
                """
                SELECT app.bundle, sum(c.checks)::int8, sum(c.messages)::int8, sum(c.lockouts)::int8
                FROM apps AS app LEFT JOIN check_counts AS c ON lower(c.bundle) = lower(app.bundle)
                    AND c.hour > now() - interval '1 day' AND c.hour <= now() + interval '1 hour'
                GROUP BY 1
                """
            ).map { row in
                (
                    try row.decode(0, as: String.self), try row.decode(1, as: Int64?.self) ?? 0,
                    try row.decode(2, as: Int64?.self) ?? 0, try row.decode(3, as: Int64?.self) ?? 0
                )
            }
            return (try OverviewFigures(limit: 100, session), expected)
        }
        #expect(figures.total == 20)
        #expect(figures.apps.count == 20)
        for (bundle, checks, messages, lockouts) in expected {
            let app = try #require(figures.apps.first { $0.bundle == bundle })
            #expect((app.checks, app.messages, app.lockouts) == (checks, messages, lockouts), "seed \(random.seed)")
            #expect(app.paused == ["App5", "App10", "App15", "App20"].contains(bundle))
        }
        func key(_ app: AppRow) -> (Double, Int64) {
            (app.checks == 0 ? 0 : Double(app.lockouts) / Double(app.checks), app.checks)
        }
        for (app, next) in zip(figures.apps, figures.apps.dropFirst()) {
            #expect(key(app) >= key(next), "seed \(random.seed)")
        }
        let few = try await connection.transaction(.repeatableReadReadOnly) { try OverviewFigures(limit: 3, $0) }
        #expect(few.apps == Array(figures.apps.prefix(3)))
        #expect(few.total == 20)
    }
}
