import Postgres
import TestDatabase
import TestRandom
import Testing
import UpdatePolicy

@testable import PolicyStore

/// When the fuse of a lockout blows; what that leaves in the history is in `Tests/Cases/sql/fuses.case`.
@Suite("Fuses", .migratedDatabase)
struct FuseTests {
    private static let example = """
        INSERT INTO apps (bundle) VALUES ('a'), ('b');
        INSERT INTO releases (bundle, platform, version, live_at)
            VALUES ('a', 'ios', '2', '2020-01-01Z'), ('b', 'ios', '2', '2020-01-01Z');
        INSERT INTO rules (key, bundle, versions, enabled, lockout, fuse, title, text, link)
            VALUES ('k', 'a', '<1', true, true, 5, 't', 'x', 'https://a.example');
        """

    private func blow(_ connection: PostgresConnection) async throws -> Int {
        try await connection.transaction { try CountStore.blowFuses($0).rules }
    }

    /// A rule of the property test: what decides whether its fuse may blow.
    private struct Fused {
        let key: String
        let bundle: String?
        let isEnabled: Bool
        let isLockout: Bool
        /// In hundredths of a percent.
        let fuse: Int?
        let ramp: Ramp?

        /// How the steps of a rule stand.
        enum Ramp: CaseIterable {
            /// All of them have come.
            case complete
            /// One is to come.
            case goesOn
            /// One would be to come, and another would have come, but all are held.
            case held
        }

        init(_ number: Int, using random: inout SeededGenerator) {
            key = "r\(number)"
            bundle = random.pick(["a", "b"], chance: 80)
            isEnabled = random.chance(92)
            isLockout = random.chance(92)
            fuse = random.pick([1, 50, 200, 500, 1_250, 3_333, 9_999, 10_000], chance: 94)
            ramp = random.pick(Ramp.allCases, chance: 50)
        }

        private var steps: String {
            let hours =
                switch ramp {
                case nil: ""
                case .complete: "-2"
                case .goesOn: "-2,1"
                case .held: "-3,-1,1"
                }
            return "INSERT INTO rollout_steps SELECT '\(key)', now() + at * interval '1 hour', 50 + at"
                + " FROM unnest('{\(hours)}'::int[]) AS at;"
                + (ramp == .held ? "UPDATE rules SET held_at = now() - interval '2 hours' WHERE key = '\(key)';" : "")
        }

        var sql: String {
            """
            INSERT INTO rules (key, bundle, versions, enabled, lockout, fuse, title, text) VALUES ('\(key)',
                \(bundle.map { "'\($0)'" } ?? "NULL"), '<1', \(isEnabled), \(isLockout),
                \(fuse.map { "\($0) / 100.0" } ?? "NULL"), 't', 'x'); \(steps)
            """
        }
    }

    /// What was counted in a minute, `age` minutes before the present one.
    private struct Row {
        let rule: Int
        let bundle: String?
        let age: Int
        let checks: Int
        let lockouts: Int
        /// Whether the rule has reached the same clients since.
        let isCurrent: Bool
    }

    /// A stream of counts of a rule, near to what makes its fuse blow.
    private static func stream(_ index: Int, _ rule: Fused, using random: inout SeededGenerator) -> [Row] {
        let bundles: [String?] = rule.bundle.map { [$0] } ?? random.some(["a", "b", nil], upTo: 3)
        return bundles.flatMap { bundle -> [Row] in
            let ages = random.some(Array(-3...12), upTo: 12)
            let whole = random.pick([0, 1, 499, 500, 501, 600, 5_000, 100_000])
            let edge = whole * (rule.fuse ?? 500) / 10_000
            let lockouts = random.chance(15) ? whole : max(0, min(whole, edge + Int.random(in: -1...2, using: &random)))
            // Of one total each minute has a part: what is outside of the ten minutes is missing from it.
            var (checksLeft, lockoutsLeft) = (whole, lockouts)
            return ages.enumerated().map { place, age in
                let isLast = place == ages.count - 1
                let checks = isLast ? checksLeft : Int.random(in: 0...checksLeft, using: &random)
                let least = max(0, lockoutsLeft - (checksLeft - checks))
                let most = max(least, min(checks, lockoutsLeft))
                let part = isLast ? lockoutsLeft : Int.random(in: least...most, using: &random)
                checksLeft -= checks
                lockoutsLeft -= part
                return Row(
                    rule: index, bundle: bundle, age: age, checks: checks, lockouts: part, isCurrent: random.chance(97)
                )
            }
        }
    }

    /// The rules whose fuse blows, read from part 10.3 of the contract and nothing else: of the last ten minutes at least
    /// 500 checks of an app, and more than the fuse's percentage of them locked out by the rule as it is.
    private static func blown(_ rules: [Fused], _ rows: [Row], second: Int64) -> Set<String> {
        var blown: Set<String> = []
        for (index, rule) in rules.enumerated() {
            guard let fuse = rule.fuse, rule.isEnabled, rule.isLockout, rule.ramp != .held else { continue }
            for bundle in Set(rows.filter { $0.rule == index }.map(\.bundle)) {
                let counted = rows.filter { row in
                    // A minute began so many seconds ago; a server's clock may be ahead by one.
                    let secondsAgo = Int64(row.age) * 60 + second
                    return row.rule == index && row.bundle == bundle && row.isCurrent && secondsAgo < 600
                        && secondsAgo >= -60
                }
                let checks = counted.reduce(0) { $0 + $1.checks }
                let lockouts = counted.reduce(0) { $0 + $1.lockouts }
                if checks >= 500, lockouts * 10_000 > fuse * checks { blown.insert(rule.key) }
            }
        }
        return blown
    }

    @Test("A fuse blows exactly when the last ten minutes say so, over random streams of counts")
    func blowsWhenItIsTrue() async throws {
        var random = SeededGenerator()
        print("fuses: VERSIONGATE_SEED=\(random.seed) repeats this")
        let rulesPerRound = 120
        let owner = try await TestDatabase.current.connect()
        let keys = (0..<rulesPerRound).map { "r\($0)" }.joined(separator: ",")
        try await owner.execute("SET versiongate.consent = '\(keys)'")
        try await owner.execute("SET client_min_messages = error; " + Self.example)
        let rules = (0..<rulesPerRound).map { Fused($0, using: &random) }
        try await owner.execute(rules.map(\.sql).joined())
        try await owner.execute("UPDATE rules SET enabled = false WHERE key = 'k'")
        var (streams, blown) = (0, 0)
        while streams < Trials.count(5_000) {
            let rows = rules.enumerated().flatMap { Self.stream($0, $1, using: &random) }
            let (found, expected) = try await owner.transaction(
                .readWrite,
                deciding: { session in
                    _ = try session.query(
                        """
                        INSERT INTO lockout_counts (rule, bundle, minute, checks, lockouts, revision)
                        SELECT 'r' || r, b, date_trunc('minute', now()) - age * interval '1 minute', c, l, p.revision
                        FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
                            AS s (r, b, age, c, l), policy_revision AS p
                        """,
                        [
                            rows.map { Int64($0.rule) }, rows.map(\.bundle), rows.map { Int64($0.age) },
                            rows.map { Int64($0.checks) }, rows.map { Int64($0.lockouts) },
                        ]
                    )
                    let stale = rows.filter { !$0.isCurrent }
                    _ = try session.query(
                        """
                        UPDATE lockout_counts AS f SET revision = 0
                        FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS s (r, b, age)
                        WHERE f.rule = 'r' || r AND f.bundle IS NOT DISTINCT FROM b
                            AND f.minute = date_trunc('minute', now()) - age * interval '1 minute'
                        """,
                        [stale.map { Int64($0.rule) }, stale.map(\.bundle), stale.map { Int64($0.age) }]
                    )
                    let second = try session.query("SELECT extract(second FROM now())::float8 * 1000000").value(
                        as: Double.self
                    )
                    let number = try CountStore.blowFuses(session).rules
                    let found = try session.query(
                        """
                        SELECT key FROM rules
                        WHERE key = ANY ($1::text[]) AND NOT lockout OR key = ANY ($2::text[]) AND held_at = now() AND lockout
                        """,
                        [
                            rules.filter { $0.isLockout && $0.ramp != .goesOn }.map(\.key),
                            rules.filter { $0.isLockout && $0.ramp == .goesOn }.map(\.key),
                        ]
                    ).map { try $0.decode(0, as: String.self) }
                    #expect(found.count == number)
                    // Whole seconds decide nothing else, as minutes are whole.
                    return .rollback((Set(found), Self.blown(rules, rows, second: Int64(second / 1_000_000))))
                }
            )
            #expect(found == expected, "seed \(random.seed), after \(streams) streams")
            streams += rules.count
            blown += found.count
        }
        print("fuses: \(streams) streams, \(blown) blew")
        #expect(blown > streams / 20 && blown < streams * 3 / 4)
    }

    @Test("A fuse blows once, whatever the number of servers that ask at the same moment")
    func blowsOnce() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(Self.example)
        var servers: [PostgresConnection] = []
        for _ in 0..<4 { servers.append(try await TestDatabase.current.connect(user: "versiongate_server")) }
        for round in 1...10 {
            try await servers[0].execute(
                """
                DELETE FROM lockout_counts;
                INSERT INTO lockout_counts
                SELECT 'k', 'a', date_trunc('minute', now()), 1000, 300, revision FROM policy_revision
                """
            )
            let blown = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for server in servers { tasks.addTask { try await blow(server) } }
                return try await tasks.reduce(0, +)
            }
            #expect(blown == 1)
            let edits = try await owner.query("SELECT count(*) FROM changes WHERE tool = 'fuse'")
            #expect(try edits.value(as: Int.self) == round)
            try await owner.execute("UPDATE rules SET lockout = true")
        }
    }

    @Test("Counts for fuses are kept for a day")
    func areKeptForADay() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(
            """
            INSERT INTO lockout_counts SELECT 'k', 'a', now() + at * interval '1 hour', 1, 0, 1
            FROM unnest('{-26,-25,-23,0,1,26}'::int[]) AS at
            """
        )
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        let step = try await server.transaction { session in
            try CountStore.rollUp(at: try CountStore.time(session), keepingDays: 400, session)
        }
        #expect(step?.deleted == 3)
        #expect(try await owner.query("SELECT count(*) FROM lockout_counts").value(as: Int.self) == 3)
    }
}
