import PolicyStore
import Postgres
import TestDatabase
import TestRandom
import Testing
import UpdatePolicy

@Suite("Rule counts", .migratedDatabase)
struct RuleCountsTests {
    private func charts(_ key: String, days: Int) async throws -> [Chart] {
        try await reading { session in
            let policy = try PolicyReader.policy(session)
            let rule = try #require(policy.rules.first { $0.key == key })
            let counts = RuleCounts(of: rule, in: policy, days: days, at: try CountStore.time(session), session)
            return try counts.charts.map { try $0.chart() }
        }
    }

    /// Reads as a viewer.
    private func reading<Result: Sendable>(
        _ read: @Sendable (PostgresSession) throws -> Result
    ) async throws -> Result {
        let connection = try await TestDatabase.current.connect(user: "versiongate_viewer")
        let result = try await connection.transaction(.repeatableReadReadOnly, read)
        await connection.close()
        return result
    }

    @Test("What was sent of a rule is what SQL counts", arguments: [1, 7, 90])
    func sent(days: Int) async throws {
        let counted = try await CountedChecks()
        var random = SeededGenerator()
        let hours = (0..<(days * 24)).filter { _ in random.chance(40) }
        let rows = hours.flatMap { hour in
            ["r", "q"].map { rule in
                let sent = Int.random(in: 0...50, using: &random)
                return "(date_trunc('hour', '\(CountedChecks.now)'::timestamptz) - interval '\(hour) hours', '\(rule)',"
                    + " \(sent), \(Int.random(in: 0...sent, using: &random)))"
            }
        }
        try await counted.connection.execute("INSERT INTO rule_counts VALUES \(rows.joined(separator: ", "))")
        // No policy has it: one that a server has in memory may be gone, and its counts stay.
        let chart = try await reading { session in
            let policy = Policy(revision: 1, token: "t", apps: [], releases: [], rules: [])
            let rule = Rule(key: "r", title: "T", text: "X")
            let charts = RuleCounts(of: rule, in: policy, days: days, at: CountedChecks.now, session).charts
            return try #require(try charts.first { $0.name == "sent" }?.chart())
        }
        #expect(chart.series.map(\.name) == [Chart.lockout, "message alone"])
        for index in 0..<chart.axis.count {
            let step = try CountedChecks.isInStep(index, of: chart).replacing("lower(bundle) = 'a'", with: "rule = 'r'")
            for (series, value) in zip(chart.series, ["lockouts", "sent - lockouts"]) {
                let sum = try await counted.number(
                    "SELECT CASE WHEN sum(sent) > 0 THEN sum(\(value)) END::float8 FROM rule_counts WHERE \(step)"
                )
                #expect(isSame(series.values[index], sum), "\(value) in step \(index), seed \(random.seed)")
            }
        }
    }

    @Test("The reach of a rule is that which SQL judges, now and at each step")
    func reach() async throws {
        let counted = try await CountedChecks()
        try await counted.connection.execute(
            """
            INSERT INTO releases (bundle, platform, version, live_at)
            VALUES ('a', 'ios', '2.0', now() - interval '1 day');
            INSERT INTO rules (key, bundle, title, text, versions, lockout, rollout, enabled)
            VALUES ('lock', 'a', 'T', 'X', '<2', true, 100, true);
            INSERT INTO check_counts (hour, bundle, platform, version, checks, messages, lockouts)
            SELECT now() - n * interval '1 hour', 'a', CASE n % 3 WHEN 0 THEN 'android' ELSE 'ios' END,
                (n % 4)::text || '.5', n * 7, 0, 0 FROM generate_series(1, 40) AS n
            """
        )
        func expected(_ condition: String) async throws -> Double? {
            try await counted.number(
                """
                SELECT (coalesce(sum(checks) FILTER (WHERE EXISTS (
                    SELECT FROM messages_for(jsonb_build_object('bundle', bundle, 'platform', platform, 'version', version))
                    WHERE id = 'lock' AND \(condition))), 0) / sum(checks))::float8 FROM check_counts
                """
            )
        }
        let (lockouts, alone) = (try await expected("lockout"), try await expected("NOT lockout"))
        try await counted.connection.execute(
            """
            INSERT INTO rollout_steps (rule, at, rollout)
            VALUES ('lock', now() - interval '1 hour', 10), ('lock', now() + interval '1 hour', 50)
            """
        )
        let charts = try await charts("lock", days: 7)
        let chart = charts[0]
        guard case .names(let names) = chart.axis else { throw CountedChecks.NotOverTime() }
        #expect(names.first == "now (10 %)")
        #expect(names.count == 3)
        #expect(names[1].hasPrefix("from ") && names[1].hasSuffix(" (50 %)"))
        #expect(names.last == "at 100 %")
        for (series, share) in zip(chart.series, [lockouts, alone]) {
            #expect((share ?? 0) > 0)
            for (value, part) in zip(series.values, [0.1, 0.5, 1]) {
                #expect(isSame(value, share.map { $0 * part }), "\(series.name)")
            }
        }
        #expect(chart.answer.hasPrefix("Of the 5,740 checks of the last 7 days it reaches about"), "\(chart.answer)")
        let mark = try #require(charts[1].marks.last)
        #expect(mark.change == 3)
        let label = /^added rollout step lock [^,]*Z, rollout step lock [^;]*Z; changed rule lock \(rollout 100 -> 0\)$/
        #expect(mark.label.plain.contains(label))
    }

    @Test("The bar of 100 % is left out where the one before it says the same, and stays where a release is to come")
    func everybody() async throws {
        let counted = try await CountedChecks()
        try await counted.connection.execute(
            """
            INSERT INTO releases (bundle, platform, version, live_at)
            VALUES ('a', 'ios', '3.0', now() + interval '1 hour');
            INSERT INTO rules (key, bundle, title, text, target, enabled)
            VALUES ('there', 'a', 'T', 'X', NULL, true), ('later', 'a', 'T', 'X', '3.0', true);
            INSERT INTO check_counts (hour, bundle, platform, version, checks, messages, lockouts)
            VALUES (now() - interval '1 hour', 'a', 'ios', '2.0', 10, 0, 0)
            """
        )
        let expected: [(key: String, bars: [String], values: [Double])] = [
            ("there", ["now (100 %)"], [1]), ("later", ["now (100 %)", "at 100 %"], [0, 1]),
        ]
        for (key, bars, values) in expected {
            let chart = try await charts(key, days: 7)[0]
            #expect(chart.axis == .names(bars), "\(key)")
            #expect(chart.series.map(\.values) == [values], "\(key)")
        }
    }

    @Test("A rule that nobody asked for has charts without numbers that say so")
    func nothing() async throws {
        let counted = try await CountedChecks()
        try await counted.connection.execute("INSERT INTO rules (key, title, text) VALUES ('r', 'T', 'X')")
        let charts = try await charts("r", days: 1)
        #expect(charts.map(\.name) == ["reach", "sent"])
        #expect(charts.allSatisfy { $0.isEmpty })
        #expect(
            charts.map(\.answer)
                == ["Nothing was counted in the last day.", "It was not sent in the last 24 hours."]
        )
    }
}
