import Postgres
import TestDatabase
import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("Count store", .migratedDatabase)
struct CountStoreTests {
    private static let noon = Timestamp(secondsSince1970: 1_772_366_400)
    private static let hour: Int64 = 3_600_000_000

    private func kind(_ members: String) -> ClientKind {
        ClientKind(bytes: Array((members + " ").replacing(" ", with: "\0").replacing("-", with: "").utf8))
    }

    private func batch(_ counts: [(kind: String?, checks: Int)], hours: Int64 = 0) -> CountBatch {
        var batch = CountBatch()
        for (name, checks) in counts {
            batch.checks.append(
                CheckCount(
                    hour: Self.noon.advanced(byMicroseconds: hours * Self.hour), kind: name.map(kind), checks: checks,
                    messages: checks / 2, lockouts: checks / 4
                )
            )
        }
        return batch
    }

    private func add(_ batch: CountBatch, _ connection: PostgresConnection) async throws {
        try await connection.transaction { try CountStore.add(batch, $0) }
    }

    private func rows(_ connection: PostgresConnection, _ query: String) async throws -> [String] {
        try await connection.query(query).map { try $0.decode(0, as: String.self) }
    }

    private static let all = """
        SELECT format('%s %s %s %s %s %s %s: %s %s %s', to_char(hour AT TIME ZONE 'UTC', 'MM-DD HH24'),
            coalesce(bundle, '-'), coalesce(platform, '-'), coalesce(version, '-'), coalesce(build, '-'),
            coalesce(region, '-'), coalesce(os, '-'), checks, messages, lockouts) COLLATE "C"
        FROM check_counts ORDER BY 1
        """

    @Test("No forged row keeps counts from being written, or from being read")
    func outlivesForgedRows() async throws {
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        // The most that a row can hold, in the row that the batch adds to and in nine others.
        try await server.execute(
            """
            INSERT INTO check_counts (hour, bundle, platform, version, checks, messages, lockouts)
            SELECT date_trunc('hour', now()), 'a', 'ios', '0.' || number, 1000000000000, 0, 0
              FROM generate_series(1, 10) AS number
            """
        )
        let hour = try await server.query("SELECT extract(epoch FROM date_trunc('hour', now()))::int8").value(
            as: Int64.self
        )
        var batch = CountBatch()
        for name in ["a ios 0.1 - - -", "b ios 1.0 - - -"] {
            batch.checks.append(
                CheckCount(
                    hour: Timestamp(secondsSince1970: hour), kind: kind(name), checks: 5, messages: 1, lockouts: 0
                )
            )
        }
        try await add(batch, server)
        let written = "SELECT bundle || ' ' || checks FROM check_counts WHERE version IN ('0.1', '1.0') ORDER BY 1"
        #expect(try await rows(server, written) == ["a 1000000000000", "b 5"])
        let recent = try await server.transaction { try CountReader($0).recentChecks(days: 1) }
        #expect(recent.clients.count == 11)
        #expect(recent.unknown == 0)
    }

    @Test("Counts that the database refuses to read are not known, and the transaction goes on")
    func isNotKnown() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute("ALTER TABLE check_counts RENAME TO moved_counts")
        let recent = try await owner.transaction { session in
            let recent = try CountReader(session).recentChecksIfReadable(days: 7)
            #expect(try session.query("SELECT 1").value(as: Int.self) == 1)
            return recent
        }
        #expect(!recent.isKnown)
        #expect(recent.isEmpty)
    }

    @Test("Counts are added to those of the same hour and kind, nothing being a kind of its own, by the server's role")
    func addsUp() async throws {
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        try await add(batch([("a ios 1.2 3 DE 17", 4), (nil, 8), ("a - - - - -", 1)]), server)
        try await add(batch([("a - - - - -", 3), (nil, 4), ("a ios 1.2 3 DE 17", 1), (nil, 4)]), server)
        try await add(batch([("a - - - - -", 5)], hours: 1), server)
        #expect(
            try await rows(server, Self.all) == [
                "03-01 12 - - - - - -: 16 8 4", "03-01 12 a - - - - -: 4 1 0", "03-01 12 a ios 1.2 3 DE 17: 5 2 1",
                "03-01 13 a - - - - -: 5 2 1",
            ]
        )
    }

    @Test("Counts hold how often each rule was sent")
    func addsRules() async throws {
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        var batch = CountBatch()
        for (rule, sent) in [("update", 3), ("old", 1), ("update", 4)] {
            batch.rules.append(RuleCount(hour: Self.noon, rule: rule, sent: sent, lockouts: 1))
        }
        try await add(batch, server)
        try await add(batch, server)
        #expect(
            try await rows(server, "SELECT format('%s %s %s', rule, sent, lockouts) FROM rule_counts ORDER BY 1")
                == ["old 2 2", "update 14 4"]
        )
    }

    @Test("Counts are exact when servers write the same kinds at once, in any order, and none waits in vain")
    func addsConcurrently() async throws {
        let database = TestDatabase.current
        let rounds = 20
        let names = (0..<200).map { "a ios 1.\($0) - - -" as String? } + [nil]
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for writer in 1...4 {
                tasks.addTask {
                    let server = try await database.connect(user: "versiongate_server")
                    for _ in 0..<rounds {
                        var batch = self.batch(names.shuffled().map { ($0, writer) })
                        batch.rules = names.indices.shuffled().map {
                            RuleCount(hour: Self.noon, rule: "rule-\($0)", sent: writer, lockouts: 0)
                        }
                        try await self.add(batch, server)
                    }
                }
            }
            try await tasks.waitForAll()
        }
        let server = try await database.connect(user: "versiongate_server")
        let sums = "count(*) || ' ' || min(%@) || ' ' || max(%@)"
        #expect(
            try await rows(server, "SELECT \(sums.replacing("%@", with: "checks")) FROM check_counts")
                == ["201 \(10 * rounds) \(10 * rounds)"]
        )
        #expect(
            try await rows(server, "SELECT \(sums.replacing("%@", with: "sent")) FROM rule_counts")
                == ["201 \(10 * rounds) \(10 * rounds)"]
        )
    }

    @Test("Counts take the longest members that a client can send")
    func takesLongMembers() async throws {
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        var client = Client()
        let bundle = String(repeating: "b", count: 255)
        // Random digits, because PostgreSQL would compress others.
        func version() -> String { String((0..<128).map { _ in "0123456789".randomElement() ?? "0" }) }
        for (name, value) in [
            ("bundle", bundle), ("version", version()), ("build", version()), ("os", version()), ("region", "DE"),
            ("platform", String(repeating: "p", count: 32)),
        ] {
            try client.set(UTF8Text(name), to: .text(UTF8Text(value)))
        }
        var bytes = ByteWriter()
        client.writeKind(ofApp: bundle, to: &bytes)
        var batch = CountBatch()
        let kind = bytes.withBytes { ClientKind(bytes: $0) }
        batch.checks = [CheckCount(hour: Self.noon, kind: kind, checks: 1, messages: 1, lockouts: 1)]
        try await add(batch, server)
        try await add(batch, server)
        #expect(try await server.query("SELECT checks FROM check_counts").value(as: Int64.self) == 2)
    }

    // MARK: Rolling up

    /// Fills the tables with random counts of the last 20 days and an hour of the future.
    private func fill(_ connection: PostgresConnection) async throws {
        try await connection.execute(
            """
            INSERT INTO check_counts
            SELECT date_trunc('hour', timestamptz '2026-03-01 12:00Z') - hour * interval '1 hour', bundle, platform,
                version, NULL, NULL, NULL, n, n - 1, n / 2
            FROM generate_series(-1, 480, 3) AS hour, unnest(ARRAY['a', NULL]) AS bundle,
                unnest(ARRAY['ios', NULL]) AS platform, unnest(ARRAY['1.1', '1.2', NULL]) AS version,
                LATERAL (SELECT (random() * 100)::int + 1 + 0 * hour AS n) AS numbers;
            INSERT INTO rule_counts
            SELECT date_trunc('hour', timestamptz '2026-03-01 12:00Z') - hour * interval '1 hour', 'rule-' || rule, n, n / 2
            FROM generate_series(-1, 480) AS hour, generate_series(1, 3) AS rule,
                LATERAL (SELECT (random() * 100)::int + 0 * hour AS n) AS numbers;
            """
        )
    }

    private static let days = """
        SELECT format('%s %s %s %s: %s %s %s', date_trunc('day', hour, 'UTC'), bundle, platform, version,
            sum(checks), sum(messages), sum(lockouts))
        FROM check_counts GROUP BY date_trunc('day', hour, 'UTC'), bundle, platform, version
        UNION ALL
        SELECT format('%s %s: %s %s', date_trunc('day', hour, 'UTC'), rule, sum(sent), sum(lockouts))
        FROM rule_counts GROUP BY date_trunc('day', hour, 'UTC'), rule
        ORDER BY 1
        """

    @discardableResult
    private func rollUp(
        _ connection: PostgresConnection,
        keepingDays days: Int = 400,
        at now: Timestamp = noon
    ) async throws -> CountStore.RollUpStep {
        var total = CountStore.RollUpStep()
        for _ in 0..<10_000 {
            let step = try await connection.transaction { try CountStore.rollUp(at: now, keepingDays: days, $0) }
            guard let step, !step.isDone else { break }
            total.add(step)
        }
        return total
    }

    @Test("Counts of hours that are long over become those of their days, every sum as before, by the server's role")
    func rollsUp() async throws {
        let database = TestDatabase.current
        let server = try await database.connect(user: "versiongate_server")
        try await fill(try await database.connect())
        let before = try await rows(server, Self.days)
        let step = try await rollUp(server)
        #expect(step.rolledUp > 1_000)
        #expect(step.deleted == 0)
        #expect(try await rows(server, Self.days) == before)
        let isLeft = """
            SELECT count(*) FROM (SELECT hour FROM check_counts UNION ALL SELECT hour FROM rule_counts) AS counts
            WHERE hour < '2026-02-22 00:00Z' AND hour <> date_trunc('day', hour, 'UTC')
            """
        #expect(try await server.query(isLeft).value(as: Int64.self) == 0)
        let recent = "SELECT count(DISTINCT hour) FROM rule_counts WHERE hour >= '2026-02-22 00:00Z'"
        #expect(try await server.query(recent).value(as: Int64.self) == 7 * 24 + 14)
        #expect(try await rollUp(server).isDone)
    }

    @Test("Counts that come late to a day that is rolled up are added to it")
    func rollsUpLatecomers() async throws {
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        try await add(batch([("a - - - - -", 4)], hours: -240), server)
        try await rollUp(server)
        try await add(batch([("a - - - - -", 8), (nil, 1)], hours: -241), server)
        try await rollUp(server)
        #expect(try await rows(server, Self.all) == ["02-19 00 - - - - - -: 1 0 0", "02-19 00 a - - - - -: 12 6 3"])
    }

    @Test("Counts of days are deleted when they are kept no longer")
    func deletesOldDays() async throws {
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        for hours: Int64 in [0, -12, -13, -36, -37, -24 * 30] {
            try await add(batch([("a - - - - -", 4)], hours: hours), server)
        }
        let step = try await rollUp(server, keepingDays: 1)
        #expect(step.deleted == 2)
        #expect(
            try await rows(server, Self.all) == [
                "02-28 00 a - - - - -: 4 2 1", "02-28 23 a - - - - -: 4 2 1", "03-01 00 a - - - - -: 4 2 1",
                "03-01 12 a - - - - -: 4 2 1",
            ]
        )
    }

    @Test("Counts are rolled up in steps of a bounded number of rows, by one server at a time")
    func rollsUpOneAtATime() async throws {
        let database = TestDatabase.current
        let server = try await database.connect(user: "versiongate_server")
        let other = try await database.connect(user: "versiongate_server")
        try await server.execute(
            """
            INSERT INTO check_counts (hour, bundle, version, checks, messages, lockouts)
            SELECT '2026-02-01 05:00Z', 'a', n::text, 1, 0, 0 FROM generate_series(1, \(CountStore.rowsPerStep + 7)) AS n
            """
        )
        let first = try await server.transaction { try CountStore.rollUp(at: Self.noon, keepingDays: 400, $0) }
        #expect(first?.rolledUp == CountStore.rowsPerStep)
        let admin = try await database.connect()
        try await admin.execute("SELECT pg_advisory_lock(\(0x7665_7273_726F_6C6C))")
        let refused = try await other.transaction { try CountStore.rollUp(at: Self.noon, keepingDays: 400, $0) }
        #expect(refused == nil)
        try await admin.execute("SELECT pg_advisory_unlock(\(0x7665_7273_726F_6C6C))")
        let rest = try await rollUp(other)
        #expect(rest.rolledUp == 7)
    }

    @Test(
        "Counts are neither lost nor doubled when servers roll up and write at once, and one breaks off in the middle"
    )
    func rollsUpConcurrently() async throws {
        let database = TestDatabase.current
        let admin = try await database.connect()
        try await fill(admin)
        let total = "SELECT sum(checks)::bigint FROM check_counts"
        let before = try await admin.query(total).value(as: Int64.self)
        let writes = 30
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for _ in 0..<2 {
                tasks.addTask {
                    let server = try await database.connect(user: "versiongate_server")
                    for _ in 0..<writes {
                        // A server whose clock is wrong writes hours that are being rolled up.
                        try await self.add(self.batch([("a ios 1.1 - - -", 2), (nil, 1)], hours: -300), server)
                        await #expect(throws: CancellationError.self) {
                            try await server.transaction { session in
                                _ = try CountStore.rollUp(at: Self.noon, keepingDays: 400, session)
                                throw CancellationError()
                            }
                        }
                        try await self.rollUp(server)
                    }
                }
            }
            try await tasks.waitForAll()
        }
        let after = try await admin.query(total).value(as: Int64.self)
        #expect(after == before + Int64(2 * writes * 3))
    }

    // MARK: Bounds

    /// A flood of one app with 300 kinds an hour that are there once, over honest kinds that are there every day.
    private func flood(_ connection: PostgresConnection) async throws {
        try await connection.execute(
            """
            INSERT INTO apps (bundle) VALUES ('a'), ('b');
            INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '2.0');
            INSERT INTO check_counts
            SELECT '2026-03-01 00:00Z'::timestamptz + hour * interval '1 hour', app, 'ios', '1.' || n, NULL, 'DE', '17',
                3, 2, 1
            FROM generate_series(-72, 11) AS hour, generate_series(1, 20) AS n, unnest('{a,b}'::text[]) AS app;
            INSERT INTO check_counts
            SELECT '2026-03-01 00:00Z'::timestamptz + hour * interval '1 hour', 'a', 'ios',
                CASE WHEN n % 3 = 0 THEN '2.0' ELSE '9.' || hour || '.' || n END, hour || '.' || n, 'JP', NULL, 9, 9, 0
            FROM generate_series(0, 11) AS hour, generate_series(1, 300) AS n;
            """
        )
    }

    private func merge(_ connection: PostgresConnection, keeping kinds: Int64 = 50) async throws
        -> Int
    {
        var total = 0
        for _ in 0..<100 {
            let merged = try await connection.transaction {
                try CountStore.merge(at: Self.noon, dayOf: Self.noon, keeping: kinds, $0)
            }
            guard let merged, merged > 0 else { break }
            total += merged
        }
        return total
    }

    @Test(
        "Counts of more kinds than a day may have are merged: those of the days before stay exact, and every sum by release"
    )
    func mergesAFlood() async throws {
        let database = TestDatabase.current
        let server = try await database.connect(user: "versiongate_server")
        try await flood(try await database.connect())
        let honest = "SELECT count(*) || ' ' || sum(checks) FROM check_counts WHERE os = '17'"
        let ofRelease = "SELECT sum(checks)::text FROM check_counts WHERE version = '2.0'"
        let byHour = """
            SELECT format('%s %s %s %s', hour, sum(checks), sum(messages), sum(lockouts)) FROM check_counts
            GROUP BY hour ORDER BY hour
            """
        var before: [[String]] = []
        for query in [honest, ofRelease, byHour] { before.append(try await rows(server, query)) }
        #expect(before[1] == ["10800"])

        #expect(try await merge(server) == 3_600 - 30)
        for (query, rows) in zip([honest, ofRelease, byHour], before) {
            #expect(try await self.rows(server, query) == rows)
        }
        let kinds = """
            SELECT count(DISTINCT (platform, version, build, region, os))::text FROM check_counts
            WHERE bundle = 'a' AND hour >= '2026-03-01 00:00Z'
            """
        #expect(try await rows(server, kinds) == ["51"])
        let merged = "SELECT bundle || ' ' || sum(checks) FROM merged_counts GROUP BY bundle"
        #expect(try await rows(server, merged) == ["a \((3_600 - 30) * 9)"])
        #expect(try await merge(server) == 0)
    }

    @Test("Counts of the current hour are left alone, so that no server waits to add to them")
    func leavesTheCurrentHour() async throws {
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        let kinds = (0..<100).map { "a ios 9.\($0) - - -" as String? }
        try await add(batch(kinds.map { ($0, 4) }), server)
        #expect(try await merge(server, keeping: 10) == 0)
        try await add(batch(kinds.map { ($0, 4) }, hours: -1), server)
        #expect(try await merge(server, keeping: 10) == 90)
        #expect(
            try await server.query("SELECT count(*) FROM check_counts").value(as: Int.self) == 100 + 10
                + 1
        )
    }

    @Test("Counts say how many checks were of more kinds than a server keeps apart, in hours and then in days")
    func addsMerged() async throws {
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        for _ in 0..<2 {
            var batch = batch([(nil, 4)], hours: -240)
            batch.merged = [
                MergedCount(hour: Self.noon.advanced(byMicroseconds: -240 * Self.hour), bundle: "a", checks: 3),
                MergedCount(hour: Self.noon.advanced(byMicroseconds: -240 * Self.hour), bundle: "b", checks: 1),
            ]
            try await add(batch, server)
        }
        try await rollUp(server)
        let merged =
            "SELECT format('%s %s %s', hour AT TIME ZONE 'UTC', bundle, checks) FROM merged_counts ORDER BY 1"
        #expect(try await rows(server, merged) == ["2026-02-19 00:00:00 a 6", "2026-02-19 00:00:00 b 2"])
        try await rollUp(server, keepingDays: 1)
        #expect(try await rows(server, merged) == [])
    }

    @Test("Counts of a server whose clock is ahead by more than a day are deleted, and are in no period before")
    func boundsTheFuture() async throws {
        let database = TestDatabase.current
        let server = try await database.connect(user: "versiongate_server")
        try await server.execute(
            """
            INSERT INTO check_counts (hour, bundle, platform, version, checks, messages, lockouts) VALUES
                (date_trunc('hour', now()), 'a', 'ios', '1.0', 5, 0, 0),
                (date_trunc('hour', now()) + interval '3 hours', 'a', 'ios', '1.0', 70, 0, 0),
                ('2099-01-01Z', 'a', 'ios', '1.0', 900, 0, 0);
            INSERT INTO rule_counts VALUES ('2099-01-01Z', 'r', 1, 0);
            """
        )
        let recent = try await server.transaction { try CountReader($0).recentChecks(days: 7) }
        #expect(recent.known == 5)
        let now = try await server.withSession { try CountStore.time($0) }
        let step = try await rollUp(server, at: now)
        #expect(step.deleted == 2)
        #expect(
            try await server.query("SELECT sum(checks)::bigint FROM check_counts").value(as: Int64.self)
                == 75
        )
    }

    @Test("Counts tell which kinds there were in the last days: those of most days first, and each app has its part")
    func recentKinds() async throws {
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        try await server.execute(
            """
            INSERT INTO check_counts (hour, bundle, version, checks, messages, lockouts)
            SELECT date_trunc('hour', now()) - day * interval '1 day', app, 'daily', 1, 0, 0
            FROM generate_series(0, 2) AS day, unnest('{a,b}'::text[]) AS app;
            INSERT INTO check_counts (hour, bundle, version, checks, messages, lockouts)
            SELECT date_trunc('hour', now()), 'a', 'flood ' || n, 100 + n, 0, 0 FROM generate_series(1, 50) AS n;
            INSERT INTO check_counts (hour, checks, messages, lockouts) VALUES (date_trunc('hour', now()), 9, 0, 0);
            INSERT INTO check_counts (hour, bundle, version, checks, messages, lockouts)
            VALUES (now() - interval '9 days', 'a', 'old', 9, 0, 0), ('2099-01-01Z', 'a', 'new', 9, 0, 0);
            """
        )
        let kinds = try await server.transaction { try CountReader($0).recentKinds(limit: 4) }
        #expect(
            kinds.map { "\($0.bundle) \($0.version ?? "-")" } == [
                "a daily", "b daily", "a flood 50", "a flood 49",
            ]
        )
        let all = try await server.transaction { try CountReader($0).recentKinds(limit: 1_000) }
        #expect(all.count == 52)
    }
}
