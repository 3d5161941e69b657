import Postgres
import TestDatabase
import TestRandom
import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("Apps and their checks", .migratedDatabase)
struct AppRowsTests {
    @Test("The apps have the checks of the last 24 hours and of the day before that SQL counts, most lockouts first")
    func reads() async throws {
        let connection = try await TestDatabase.current.connect()
        var random = SeededGenerator()
        try await connection.execute(
            "INSERT INTO apps (bundle, name, paused) SELECT 'App' || n, 'N' || n, n % 5 = 0 FROM generate_series(1, 20) AS n"
        )
        let rows = (0..<300).map { row in
            let checks = Int.random(in: 0...100, using: &random)
            let lockouts = random.chance(50) ? 0 : Int.random(in: 0...checks, using: &random)
            return "(now() - interval '\(Int.random(in: -60...4_320, using: &random)) minutes', 'app\(row % 19)',"
                + " 'v\(row)', \(checks), \(checks), \(lockouts))"
        }
        try await connection.execute(
            """
            INSERT INTO check_counts (hour, bundle, version, checks, messages, lockouts)
            VALUES \(rows.joined(separator: ", "))
            """
        )
        let (apps, expected) = try await connection.transaction(.repeatableReadReadOnly) { session in
            let expected = try session.query(
                """
                SELECT app.bundle, day = 0, sum(c.checks)::int8, sum(c.messages)::int8, sum(c.lockouts)::int8
                FROM apps AS app CROSS JOIN generate_series(0, 1) AS day
                LEFT JOIN check_counts AS c ON lower(c.bundle) = lower(app.bundle)
                    AND c.hour > now() - interval '1 day' * (day + 1)
                    AND c.hour <= CASE day WHEN 0 THEN now() + interval '1 hour' ELSE now() - interval '1 day' END
                GROUP BY 1, 2
                """
            ).map { row in
                (
                    bundle: try row.decode(0, as: String.self), isLast: try row.decode(1, as: Bool.self),
                    totals: CheckTotals(
                        checks: try row.decode(2, as: Int64?.self) ?? 0,
                        messages: try row.decode(3, as: Int64?.self) ?? 0,
                        lockouts: try row.decode(4, as: Int64?.self) ?? 0
                    )
                )
            }
            return (try CountReader(session).rows(of: PolicyReader.policy(session).apps), expected)
        }
        #expect(apps.count == 20)
        #expect(expected.count == 40)
        for (bundle, isLast, totals) in expected {
            let row = try #require(apps.first { $0.app.bundle == bundle })
            #expect((isLast ? row.last : row.before) == totals, "seed \(random.seed)")
        }
        func key(_ app: AppRow) -> (Double, Int64) {
            (app.last.lockoutPart, app.last.checks)
        }
        for (app, next) in zip(apps, apps.dropFirst()) {
            #expect(key(app) >= key(next), "seed \(random.seed)")
        }
    }
}
