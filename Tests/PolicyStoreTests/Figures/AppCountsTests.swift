import PolicyStore
import Postgres
import TestDatabase
import TestRandom
import Testing
import UpdatePolicy

@Suite("App counts", .migratedDatabase)
struct AppCountsTests {
    @Test("The shares of versions are those that SQL counts", arguments: [1, 7, 30, 90])
    func versions(days: Int) async throws {
        let counted = try await CountedChecks()
        var random = SeededGenerator()
        try await counted.addAtRandom(&random, days: days, rows: 600)
        let chart = try await counted.chart("versions", days: days)
        #expect(chart.axis.count == (days == 1 ? 24 : days + 1))
        #expect(chart.series.count == 8, "seven versions and the others, seed \(random.seed)")
        #expect(chart.series.last?.name == Chart.others)
        for index in 0..<chart.axis.count {
            let step = try CountedChecks.isInStep(index, of: chart)
            let shares = chart.series.dropLast().map { series in
                """
                (coalesce(sum(checks) FILTER (WHERE version_compare(version, '\(series.name)') = 0), 0)
                    / nullif(sum(checks), 0))::float8
                """
            }
            let counts = try await counted.numbers(
                "SELECT \((["sum(checks)::float8"] + shares).joined(separator: ", ")) FROM check_counts WHERE \(step)"
            )
            let all = counts[0] ?? 0
            #expect(Double(chart.checks[index]) == all)
            var sum = 0.0
            for (series, share) in zip(chart.series.dropLast(), counts.dropFirst()) {
                #expect(isSame(series.values[index], share), "\(series.name) in step \(index), seed \(random.seed)")
                sum += share ?? 0
            }
            #expect(isSame(chart.series.last?.values[index], all == 0 ? nil : 1 - sum) || all > 0 && 1 - sum < 1e-9)
        }
        // The versions with a series are those with most checks.
        let names = chart.series.dropLast().map { "'\($0.name)'" }.joined(separator: ", ")
        let period = "lower(bundle) = 'a' AND hour >= '\(try starts(chart)[0])' AND hour <= '\(CountedChecks.now)'"
        let missed = try await counted.number(
            """
            WITH counts AS (
                SELECT max(version) AS version, sum(checks) AS checks FROM check_counts
                WHERE \(period) AND versiongate_internal.version_key(version) IS NOT NULL GROUP BY versiongate_internal.version_key(version)
            ), shown AS (
                SELECT counts.*, EXISTS (SELECT FROM unnest(ARRAY[\(names)]) AS n WHERE version_compare(n, version) = 0) AS is_named
                FROM counts
            )
            SELECT count(*)::float8 FROM shown WHERE NOT is_named AND checks > (SELECT min(checks) FROM shown WHERE is_named)
            """
        )
        #expect(missed == 0, "seed \(random.seed)")
    }

    private func starts(_ chart: Chart) throws -> [Timestamp] {
        guard case .time(let starts) = chart.axis else { throw CountedChecks.NotOverTime() }
        return starts
    }

    @Test("The shares of messages and lockouts are those that SQL counts", arguments: [1, 7, 30])
    func messages(days: Int) async throws {
        let counted = try await CountedChecks()
        var random = SeededGenerator()
        try await counted.addAtRandom(&random, days: days, rows: 200)
        let chart = try await counted.chart("messages", days: days)
        #expect(chart.series.map(\.name) == ["message", Chart.lockout])
        for index in 0..<chart.axis.count {
            let step = try CountedChecks.isInStep(index, of: chart)
            let shares = ["messages", "lockouts"].map { "(sum(\($0)) / nullif(sum(checks), 0))::float8" }
            let counts = try await counted.numbers(
                "SELECT \(shares.joined(separator: ", ")) FROM check_counts WHERE \(step)"
            )
            for (series, share) in zip(chart.series, counts) {
                #expect(isSame(series.values[index], share), "\(series.name) in step \(index), seed \(random.seed)")
            }
        }
    }

    @Test("The shares of systems and regions are those that SQL counts")
    func systemsAndRegions() async throws {
        let counted = try await CountedChecks()
        var random = SeededGenerator()
        try await counted.addAtRandom(&random, days: 7, rows: 300)
        let period = """
            lower(bundle) = 'a' AND hour >= date_trunc('day', '\(CountedChecks.now)'::timestamptz, 'UTC') - interval '7 days'
            """
        let names = [
            "systems": """
            CASE WHEN versiongate_internal.version_key(os) IS NULL THEN 'not known' ELSE CASE platform WHEN 'ios' THEN 'iOS'
                WHEN 'android' THEN 'Android' ELSE '(no platform)' END || ' ' || split_part(os, '.', 1) END
            """,
            "regions": "coalesce(region, 'not known')",
        ]
        for (name, expression) in names {
            let chart = try await counted.chart(name, days: 7)
            guard case .names(let bars) = chart.axis else { throw CountedChecks.NotOverTime() }
            let expected = try await counted.connection.query(
                """
                SELECT \(expression), (sum(checks) / sum(sum(checks)) OVER ())::float8 FROM check_counts
                WHERE \(period) GROUP BY 1 HAVING sum(checks) > 0
                """
            ).map { (try $0.decode(0, as: String.self), try $0.decode(1, as: Double.self)) }
            #expect(Set(bars) == Set(expected.map(\.0)), "seed \(random.seed)")
            for (bar, share) in expected {
                let index = try #require(bars.firstIndex(of: bar))
                #expect(isSame(chart.series[0].values[index], share), "\(bar), seed \(random.seed)")
            }
            #expect(bars.last == "not known")
        }
    }

    @Test("The adoption of releases is that which SQL counts from the start of each", arguments: [30, 60, 24 * 12])
    func adoption(hoursLive: Int) async throws {
        let counted = try await CountedChecks()
        var random = SeededGenerator()
        try await counted.addAtRandom(&random, days: 6, rows: 600)
        let now = "date_trunc('hour', '\(CountedChecks.now)'::timestamptz)"
        try await counted.connection.execute(
            """
            INSERT INTO releases (bundle, platform, version, live_at) VALUES
                ('a', 'ios', '1.0', \(now) - interval '900 hours'),
                ('a', 'ios', '1.1', \(now) - interval '140 hours'),
                ('a', 'ios', '1.2', \(now) - interval '\(min(hoursLive, 100)) hours' - interval '10 minutes'),
                ('a', 'android', '9', \(now) - interval '\(hoursLive) hours')
            """
        )
        let figures = try await counted.figures(days: 7)
        #expect(figures.charts.map(\.name).filter { $0.hasPrefix("adoption") } == ["adoption-android", "adoption-ios"])
        let chart = try #require(figures.charts.first { $0.name == "adoption-ios" })
        #expect(chart.series.map(\.name) == ["1.2", "1.1"])
        guard case .elapsed(let places) = chart.axis else { throw CountedChecks.NotOverTime() }
        let live = [min(hoursLive, 100) * 60 + 10, 140 * 60]
        for (series, minutes) in zip(chart.series, live) {
            for (index, place) in places.enumerated() {
                // The hours that begin in a step; the first one may have begun before the release was live.
                let start = "\(now) - interval '\(minutes) minutes' + interval '\(place / 1_000_000) seconds'"
                let length = (places[1] - places[0]) / 1_000_000
                let early = index == 0 ? " - interval '59 minutes'" : ""
                let share = try await counted.number(
                    """
                    SELECT (sum(checks) FILTER (WHERE version_compare(version, '\(series.name)') >= 0)
                        / nullif(sum(checks), 0))::float8
                    FROM check_counts WHERE lower(bundle) = 'a' AND platform = 'ios' AND hour >= \(start)\(early)
                        AND hour < \(start) + interval '\(length) seconds' AND hour <= '\(CountedChecks.now)'
                    """
                )
                let counts = try await counted.number(
                    """
                    SELECT sum(checks)::float8 FROM check_counts WHERE lower(bundle) = 'a' AND platform = 'ios'
                        AND hour >= \(start)\(early) AND hour < \(start) + interval '\(length) seconds'
                    """
                )
                let expected = (counts ?? 0) == 0 ? nil : share ?? 0
                #expect(isSame(series.values[index], expected), "\(series.name) at \(place), seed \(random.seed)")
            }
        }
        let half = try await counted.connection.query(
            """
            SELECT (extract(epoch FROM min(hour) - (\(now) - interval '\(live[0]) minutes')) * 1000000)::int8 FROM (
                SELECT hour FROM check_counts WHERE lower(bundle) = 'a' AND platform = 'ios'
                    AND hour > \(now) - interval '\(live[0] + 60) minutes' AND checks > 0
                GROUP BY hour HAVING 2 * coalesce(sum(checks) FILTER (WHERE version_compare(version, '1.2') >= 0), 0) >= sum(checks)
            ) AS reached
            """
        ).value(as: Int64?.self)
        #expect(figures.adoptions[1].newest.microseconds(toReach: 50) == half.map { max(0, $0) }, "seed \(random.seed)")
    }

    @Test("A year whose hours became days, and a week of hours, make the same chart as before")
    func rolledUp() async throws {
        let rows = Trials.count(2_000)
        let counted = try await CountedChecks()
        var random = SeededGenerator()
        try await counted.addAtRandom(&random, days: 365, rows: rows)
        let before = try await counted.figures(days: 365).charts.filter { !$0.name.hasPrefix("adoption") }
        let rolled = try await counted.connection.transaction { session in
            var rolled = 0
            while let step = try CountStore.rollUp(at: CountedChecks.now, keepingDays: 400, session), !step.isDone {
                rolled += step.rolledUp
            }
            return rolled
        }
        #expect(rolled > rows / 2)
        let after = try await counted.figures(days: 365).charts.filter { !$0.name.hasPrefix("adoption") }
        #expect(after == before, "seed \(random.seed)")
        #expect(before[0].axis.count == 366)
    }

    @Test("Of 300 versions seven have a series, in order, and the others one")
    func manyVersions() async throws {
        let counted = try await CountedChecks()
        try await counted.add(
            (1...300).map { "(1, 'a', 'ios', '1.\($0)', NULL, NULL, \($0), 0, 0)" }.joined(separator: ", ")
        )
        let chart = try await counted.chart("versions", days: 7)
        #expect(chart.series.map(\.name) == (0..<7).map { "1.\(300 - $0)" } + [Chart.others])
        #expect(chart.answer.hasPrefix("1.300 has 0.7 % of the 45,150 checks of the last 24 hours; 1.299 0.7 %"))
        #expect(chart.answer.hasSuffix("297 other versions 98.0 %."), "\(chart.answer)")
    }

    @Test("One version in one hour is the whole of it, and all other hours are gaps")
    func onePoint() async throws {
        let counted = try await CountedChecks()
        try await counted.add("(3, 'a', 'ios', '1.2', 'DE', '17.1', 40, 10, 4)")
        let figures = try await counted.figures(days: 1)
        let chart = figures.charts[0]
        #expect(chart.series.map(\.name) == ["1.2"])
        #expect(chart.series[0].values.compactMap(\.self) == [1])
        #expect(chart.series[0].values.firstIndex(of: 1) == 20)
        #expect(chart.answer == "1.2 has 100.0 % of the 40 checks of the last 24 hours.")
        #expect(figures.charts.map(\.name) == ["versions", "messages", "systems", "regions"])
        #expect(
            figures.charts[1].answer
                == "25.0 % of the 40 checks of the last 24 hours got a message, 10.0 % were locked out."
                + " In the latest hour with checks: 25.0 % and 10.0 %."
        )
        #expect(figures.charts[2].answer == "iOS 17 has 100.0 % of the 40 checks of the last 24 hours.")
    }

    @Test(
        "An app that is not there or did not ask has charts without numbers that say so", arguments: ["a", "nothing"])
    func nothing(bundle: String) async throws {
        let figures = try await CountedChecks().figures(days: 30, of: bundle)
        #expect(figures.bundle == bundle)
        #expect(figures.charts.map(\.name) == ["versions", "messages", "systems", "regions"])
        for chart in figures.charts {
            #expect(chart.isEmpty)
            #expect(chart.answer.hasPrefix("Nothing was counted in the last 30 days"), "\(chart.answer)")
        }
    }

    @Test("Checks of a server whose clock is ahead by less than an hour belong to now, and later ones to nothing")
    func clockAhead() async throws {
        let counted = try await CountedChecks()
        try await counted.add(
            "(-1, 'a', 'ios', '1.2', NULL, NULL, 5, 0, 0), (-2, 'a', 'ios', '1.2', NULL, NULL, 7, 0, 0)"
        )
        for days in [1, 7] {
            let chart = try await counted.chart("versions", days: days)
            #expect(chart.checks.last == 5)
            #expect(chart.checks.reduce(0, +) == 5)
        }
    }

    @Test("The answer about versions says what share the first of them had a week ago, where a week is shown by days")
    func weekBefore() async throws {
        let counted = try await CountedChecks()
        try await counted.add(
            """
            (0, 'a', 'ios', '1.2', NULL, NULL, 50, 0, 0), (168, 'a', 'ios', '1.2', NULL, NULL, 1, 0, 0),
            (168, 'a', 'ios', '1.1', NULL, NULL, 9, 0, 0)
            """
        )
        #expect(try await counted.chart("versions", days: 30).answer.contains(". 1.2 had 10.0 % on "))
        #expect(try await !counted.chart("versions", days: 1).answer.contains(" had "))
    }

    @Test("Edits of the app's rules are marks, where the history may be read")
    func marks() async throws {
        let counted = try await CountedChecks()
        for script in [
            "INSERT INTO rules (key, bundle, title, text, rollout) VALUES ('r', 'a', 'T', 'X', 10), ('q', 'b', 'T', 'X', 1)",
            "UPDATE rules SET rollout = 50 WHERE key = 'r'",
            "UPDATE rules SET rollout = 2 WHERE key = 'q'",
            "UPDATE rules SET enabled = true WHERE key = 'r'",
            "INSERT INTO rules (key, title, text) SELECT 'every-' || n, 'T', 'X' FROM generate_series(1, 3) AS n",
            "UPDATE rules SET title = 'A title that is too long for a label' WHERE key = 'r'",
            "UPDATE rules SET title = 'T', text = 'Y' WHERE key = 'r'",
            "UPDATE rules SET rollout = 100 WHERE key = 'r';"
                + " INSERT INTO rollout_steps (rule, at, rollout) VALUES ('r', now() + interval '1 day', 100)",
            "UPDATE apps SET paused = true WHERE bundle = 'a'",
            "UPDATE apps SET paused = true WHERE bundle = 'b'",
            "DELETE FROM rules WHERE key = 'r'",
        ] { try await counted.connection.execute(script) }
        let edits: [(change: Int64, label: String)] = [
            (2, "added rule r, rule q"), (3, "changed rule r: rollout 10 -> 50"),
            (5, "changed rule r: enabled false -> true"), (6, "added rule every-1, rule every-2, rule every-3"),
            (7, "changed rule r: title"), (8, "changed rule r: title, text"),
            (9, "added rollout step r DAY; changed rule r (rollout 50 -> 0)"),
            (10, "changed app a: paused false -> true"),
            (12, "removed rule r, rollout step r DAY"),
        ]
        let chart = try await counted.chart("messages", days: 7)
        let marks = chart.marks.filter { $0.change > 1 }
        #expect(marks.map(\.change) == edits.map(\.change))
        #expect(
            marks.map { $0.label.plain.replacing(#/[0-9]{4}-[-0-9]+T[.0-9:]+Z/#, with: "DAY") } == edits.map(\.label))
        #expect(chart.marks.map(\.at) == chart.marks.map(\.at).sorted())
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        let figures = try await CountedChecks.figures(server, days: 7)
        #expect(figures.charts.allSatisfy { $0.marks.isEmpty })
        await server.close()
    }
}
