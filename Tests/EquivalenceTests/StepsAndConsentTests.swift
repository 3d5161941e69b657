import Postgres
import TestDatabase
import TestRandom
import Testing

/// Whatever people write in SQL, in whatever order: lockouts come of what somebody said.
@Suite("Steps and consent", .migratedDatabase)
struct StepsAndConsentTests {
    /// A random statement, committed alone.
    private struct Edit {
        let sql: String
        /// The most that a rule may reach because of it, in percent; nil where it says nothing of a share.
        var share: Double?
        /// Whether it may let a rule reach somebody whom it did not reach: an enabling, a condition, a release.
        var widens = false
        /// The rules that are consented to.
        var consent: [String] = []
    }

    /// What stands after an edit, of each rule.
    private struct State {
        let share: Double
        let locksOutEverybody: Bool
    }

    private static let rules = ["one", "two", "all", "maintenance"]

    private static func edit(_ random: inout SeededGenerator) -> Edit {
        let rule = random.pick(rules)
        let share = random.pick([0, 1, 10, 25, 50, 99.5, 100])
        let time = "now() + interval '\(random.pick([-48, -24, -2, -1, 1, 2, 24, 48])) hours'"
        let one = "WHERE rule = '\(rule)'"
        return switch Int.random(in: 0..<20, using: &random) {
        case 0..<5:
            Edit(sql: "INSERT INTO rollout_steps VALUES ('\(rule)', \(time), \(share))", share: share)
        case 5: Edit(sql: "DELETE FROM rollout_steps \(one) AND at < now()")
        case 6: Edit(sql: "DELETE FROM rollout_steps \(one) AND at > now()")
        case 7: Edit(sql: "DELETE FROM rollout_steps \(one)")
        case 8: Edit(sql: "UPDATE rollout_steps SET at = at + interval '1 day'")
        case 9: Edit(sql: "UPDATE rollout_steps SET at = at + interval '3 hours' \(one) AND at < now()")
        case 10: Edit(sql: "UPDATE rollout_steps SET rollout = \(share) \(one)", share: share)
        case 11: Edit(sql: "UPDATE rules SET rollout = \(share) WHERE key = '\(rule)'", share: share)
        case 12:
            Edit(
                sql: "DELETE FROM rollout_steps \(one); UPDATE rules SET rollout = \(share) WHERE key = '\(rule)'",
                share: share
            )
        case 13: Edit(sql: "UPDATE rules SET enabled = NOT enabled WHERE key = '\(rule)'", widens: true)
        case 14:
            Edit(
                sql: "UPDATE rules SET enabled = true, ends_at = NULL WHERE key = '\(rule)'", widens: true,
                consent: random.chance(50) ? [rule] : []
            )
        case 15:
            Edit(
                sql: "UPDATE rules SET bundle = \(random.pick(["NULL", "'a'"])), target = NULL WHERE key = '\(rule)'",
                widens: true
            )
        case 16:
            Edit(
                sql: """
                    UPDATE rules SET bundle = 'a', target = \(random.pick(["NULL", "'2'", "'3'"])) WHERE key = '\(rule)'
                    """,
                widens: true
            )
        case 17:
            Edit(
                sql: """
                    UPDATE rules SET lockout = true, lockout_without_update = \(random.chance(50)),
                        ends_at = \(random.pick(["NULL", "now() + interval '2 hours'", "now() + interval '30 days'"]))
                    WHERE key = '\(rule)'
                    """,
                widens: true
            )
        case 18:
            Edit(
                sql: random.pick([
                    "UPDATE releases SET withdrawn_at = now()", "UPDATE releases SET withdrawn_at = NULL",
                    "UPDATE releases SET staged = NOT staged", "UPDATE releases SET live_at = now() + interval '1 day'",
                ]),
                widens: true
            )
        default:
            Edit(
                sql: random.pick([
                    "SELECT hold_rule('\(rule)')", "SELECT hold_rule('\(rule)', \(time))",
                    "SELECT resume_rule('\(rule)')",
                    "UPDATE rules SET held_at = \(random.pick(["NULL", time])) WHERE key = '\(rule)'",
                    "UPDATE rules SET title = 'u', note = md5(random()::text)", "DELETE FROM rule_texts \(one)",
                    "INSERT INTO rule_texts VALUES ('\(rule)', 'de', 't', 'x')",
                ])
            )
        }
    }

    @Test(
        "What an enabled rule reaches rises only by what somebody wrote, and nobody locks out everybody without consent",
        arguments: 0..<Trials.count(4)
    )
    func rises(part: Int) async throws {
        let seed = ComparisonSettings.current.seed(ofPart: part) &+ UInt64(part)
        var random = SeededGenerator(seed: seed)
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await connection.execute(
            """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2', '2000-01-01Z'),
                ('a', 'ios', '3', '2000-01-01Z');
            INSERT INTO rules (key, bundle, title, text, versions, lockout, enabled, rollout) VALUES
                ('one', 'a', 't', 'x', '<2', true, true, 5), ('two', 'a', 't', 'x', '<3', false, true, 100);
            INSERT INTO rules (key, title, text, lockout, lockout_without_update) VALUES
                ('all', 't', 'x', true, false), ('maintenance', 't', 'x', true, true);
            """
        )
        var made = 0
        var refusedForConsent = 0
        var before = try await Self.states(connection)
        for number in 0..<Trials.count(1_500) {
            let edit = Self.edit(&random)
            let comment: Comment = "VERSIONGATE_SEED=\(seed), part \(part), edit \(number): \(edit.sql)"
            do {
                try await connection.execute(
                    "BEGIN; SET LOCAL versiongate.consent = '\(edit.consent.joined(separator: ","))'; \(edit.sql); COMMIT"
                )
                made += 1
            } catch let error as PostgresError where error.sqlState?.isIntegrityViolation == true {
                try await connection.execute("ROLLBACK")
                refusedForConsent += error.constraint == "lockout_needs_consent" ? 1 : 0
                continue
            }
            let after = try await Self.states(connection)
            for (rule, state) in after {
                let old = try #require(before[rule])
                if state.share > old.share, !edit.widens {
                    #expect(edit.share.map { state.share <= $0 } == true, comment)
                }
                if state.locksOutEverybody, !edit.consent.contains(rule) {
                    #expect(old.locksOutEverybody, comment)
                    #expect(state.share <= old.share, comment)
                }
            }
            before = after
        }
        #expect(made > 0)
        #expect(refusedForConsent > 0 || Trials.count(1_500) < 100)
    }

    /// The share that each rule reaches now, none where it is disabled or has ended.
    private static func states(_ connection: PostgresConnection) async throws -> [String: State] {
        let rows = try await connection.query(
            """
            SELECT key,
                CASE WHEN enabled AND (ends_at IS NULL OR ends_at > now()) THEN rollout_at(key, now()) ELSE 0 END::float8,
                enabled AND lockout AND (ends_at IS NULL OR ends_at > now())
                    AND (bundle IS NULL
                        OR lockout_without_update AND (ends_at IS NULL OR ends_at > now() + interval '7 days'))
            FROM rules
            """
        )
        return try Dictionary(
            uniqueKeysWithValues: rows.map { row in
                (
                    try row.decode(0, as: String.self),
                    State(
                        share: try row.decode(1, as: Double.self),
                        locksOutEverybody: try row.decode(2, as: Bool.self)
                    )
                )
            }
        )
    }
}
