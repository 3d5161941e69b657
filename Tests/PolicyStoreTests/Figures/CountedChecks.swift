import PolicyStore
import Postgres
import TestDatabase
import TestRandom
import Testing
import UpdatePolicy

/// Made-up counts of the app `a` in the database of the running test, and questions to them in SQL.
struct CountedChecks {
    /// Now, in the middle of an hour and of a day.
    static let now = Timestamp(secondsSince1970: 1_795_357_500)

    let connection: PostgresConnection

    /// Connects as the owner of the database, who may write counts and read all.
    init() async throws {
        connection = try await TestDatabase.current.connect()
        try await connection.execute("INSERT INTO apps (bundle) VALUES ('a'), ('b')")
    }

    /// Adds rows of `check_counts`: hours before now, bundle, platform, version, region, os, checks, messages, lockouts.
    func add(_ values: String) async throws {
        try await connection.execute(
            """
            INSERT INTO check_counts (hour, bundle, platform, version, region, os, checks, messages, lockouts)
            SELECT date_trunc('hour', '\(Self.now)'::timestamptz) - hours * interval '1 hour', bundle, platform, version,
                region, os, checks, messages, lockouts
            FROM (VALUES \(values)) AS made(hours, bundle, platform, version, region, os, checks, messages, lockouts)
            """
        )
    }

    /// Adds counts of some weeks at random, with gaps, spellings, what cannot be read and what was not sent.
    func addAtRandom(_ random: inout SeededGenerator, days: Int, rows: Int) async throws {
        let versions = [
            "1.0", "1.0.0", "v1.1", "1.1", "1.2", "1.2-beta", "1.3", "2.0", "2.0 (45)", "eins", "?", "3", "4", "5",
        ]
        func text(_ value: String?) -> String { value.map { "'\($0)'" } ?? "NULL::text" }
        let filled = (0...(days * 24)).filter { _ in !random.chance(30) }
        let values = (0..<rows).map { _ in
            let hours = random.pick(filled)
            let checks = Int.random(in: 0...500, using: &random)
            let messages = Int.random(in: 0...checks, using: &random)
            let lockouts = Int.random(in: 0...messages, using: &random)
            return "(\(hours), \(text(random.pick(["a", "A", "b"]))), \(text(random.pick(["ios", "android", nil]))),"
                + " \(text(random.pick(versions + [nil]))), \(text(random.pick(["US", "DE", "JP", nil]))),"
                + " \(text(random.pick(["17.1", "17", "16.4.1", "x", nil]))), \(checks), \(messages), \(lockouts))"
        }
        // Rows of the same kind and hour would break the key.
        try await connection.execute(
            """
            INSERT INTO check_counts (hour, bundle, platform, version, region, os, checks, messages, lockouts)
            SELECT date_trunc('hour', '\(Self.now)'::timestamptz) - hours * interval '1 hour', bundle, platform, version,
                region, os, sum(checks), sum(messages), sum(lockouts)
            FROM (VALUES \(values.joined(separator: ", ")))
                AS made(hours, bundle, platform, version, region, os, checks, messages, lockouts)
            GROUP BY 1, 2, 3, 4, 5, 6
            """
        )
    }

    struct Figures {
        let bundle: String
        let adoptions: [AppCounts.Adoption]
        let charts: [Chart]
    }

    /// All that was counted of the app at ``now``.
    func figures(days: Int, of bundle: String = "a") async throws -> Figures {
        try await Self.figures(connection, days: days, of: bundle)
    }

    static func figures(_ connection: PostgresConnection, days: Int, of bundle: String = "a") async throws -> Figures {
        try await connection.transaction(.repeatableReadReadOnly) { session in
            let policy = try PolicyReader.policy(session, bundles: [bundle])
            let counts = AppCounts(bundle: bundle, in: policy, days: days, at: Self.now, session)
            return Figures(
                bundle: counts.bundle, adoptions: try counts.adoptions(),
                charts: try counts.charts.map { try $0.chart() }
            )
        }
    }

    /// The chart of the app with a name, as ``figures(days:of:)`` has it and as it is read alone.
    func chart(_ name: String, days: Int) async throws -> Chart {
        let chart = try #require(try await figures(days: days).charts.first { $0.name == name })
        let alone = try await connection.transaction(.repeatableReadReadOnly) { session in
            let policy = try PolicyReader.policy(session, bundles: ["a"])
            let counts = AppCounts(bundle: "a", in: policy, days: days, at: Self.now, session)
            return try counts.charts.first { $0.name == name }?.chart()
        }
        #expect(alone == chart)
        return chart
    }

    /// A number in SQL; nil for null.
    func number(_ query: String) async throws -> Double? {
        try await connection.query(query).value(as: Double?.self)
    }

    /// The numbers of the one row that a query finds.
    func numbers(_ query: String) async throws -> [Double?] {
        let rows = try await connection.query(query)
        let row = try #require(rows.first)
        return try row.columns.indices.map { try row.decode($0, as: Double?.self) }
    }

    /// The condition on rows of the app in a step of a chart, for SQL.
    static func isInStep(_ index: Int, of chart: Chart) throws -> String {
        guard case .time(let starts) = chart.axis else { throw NotOverTime() }
        let isLast = index == starts.count - 1
        return "lower(bundle) = 'a' AND hour >= '\(starts[index])'"
            + (isLast ? " AND hour <= '\(now)'::timestamptz + interval '1 hour'" : " AND hour < '\(starts[index + 1])'")
    }

    struct NotOverTime: Error {}
}

/// Whether two numbers are the same as far as floating point goes; nil is the same as nil alone.
func isSame(_ left: Double?, _ right: Double?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return abs(left - right) < 1e-9 * max(1, abs(left))
}
