import PolicyStore
import Postgres
import Synchronization
import TestDatabase
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@Suite("Held ramps", .migratedDatabase)
struct HoldTests {
    /// In the future, where no step has begun by the clock of the database.
    private static let noon = Timestamp(secondsSince1970: 4_928_040_000)

    private static func database(
        onNotice: (@Sendable (PostgresNotice) -> Void)? = nil
    ) async throws -> PostgresConnection {
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin", onNotice: onNotice)
        try await connection.execute(
            """
            INSERT INTO apps (bundle) VALUES ('com.example.doto');
            INSERT INTO rules (key, bundle, title, text, enabled, rollout)
            VALUES ('r', 'com.example.doto', 't', 'x', true, 0);
            """
        )
        return connection
    }

    private static func share(_ connection: PostgresConnection, _ time: Timestamp) async throws -> String {
        try await connection.query("SELECT rollout_at('r', $1::text::timestamptz)::text", ["\(time)"]).value()
    }

    @Test("Row 52: A held ramp stays where it is, and resumed it goes on with the step that comes next")
    func resumes() async throws {
        let connection = try await Self.database()
        try await connection.execute(
            """
            INSERT INTO rollout_steps VALUES ('r', '2026-03-01T11:00Z', 10), ('r', '2026-03-01T13:00Z', 50),
                ('r', '2026-03-01T14:00Z', 100);
            SELECT hold_rule('r', '2026-03-01T12:00Z');
            """
        )
        for hours in [0, 1, 2, 3] as [Int64] {
            #expect(try await Self.share(connection, TestPolicy.hours(hours)) == "10")
        }
        let coming = try await connection.query(
            """
            SELECT concat_ws(' ', versiongate_internal.time_text(at), rollout) FROM resume_rule('r', '2026-03-01T15:00Z')
            """
        ).map { try $0.decode(0, as: String.self) }
        #expect(coming == ["2026-03-01T16:00:00Z 50", "2026-03-01T17:00:00Z 100"])
        #expect(try await Self.share(connection, TestPolicy.hours(4, microseconds: -1)) == "10")
        #expect(try await Self.share(connection, TestPolicy.hours(4)) == "50")
        #expect(try await Self.share(connection, TestPolicy.hours(5)) == "100")

        // One change each way, and back.
        let resumed = try await connection.query("SELECT max(id) FROM changes").value(as: Int64.self)
        try await connection.query("SELECT undo_change($1)", [resumed])
        #expect(try await Self.share(connection, TestPolicy.hours(5)) == "10")
    }

    @Test("A hold and its end are idempotent, and refuse a rule that there is not, or without a step to come")
    func isIdempotent() async throws {
        let connection = try await Self.database()
        try await connection.execute(
            "INSERT INTO rollout_steps VALUES ('r', '2000-01-01Z', 10), ('r', '2126-01-01Z', 50)"
        )
        let revision = "SELECT revision FROM policy_revision"
        let first = try await connection.query("SELECT hold_rule('r')::text").value(as: String.self)
        let held = try await connection.query(revision).value(as: Int64.self)
        #expect(try await connection.query("SELECT hold_rule('r')::text").value(as: String.self) == first)
        #expect(try await connection.query(revision).value(as: Int64.self) == held)
        try await connection.execute("SELECT resume_rule('r')")
        #expect(try await connection.query(revision).value(as: Int64.self) == held + 1)
        try await connection.execute("SELECT resume_rule('r')")
        #expect(try await connection.query(revision).value(as: Int64.self) == held + 1)
        try await connection.execute("DELETE FROM rollout_steps WHERE at > now()")
        let refusals = [
            (
                "SELECT hold_rule('r')", "rules_held_at_guard",
                "rules.held_at: \"r\" has no step to come that could be held"
            ),
            ("SELECT hold_rule('z')", "rules_key_fkey", "rules.key: there is no rule \"z\""),
            ("SELECT resume_rule('z')", "rules_key_fkey", "rules.key: there is no rule \"z\""),
            (
                "UPDATE rules SET held_at = now(); DELETE FROM rollout_steps", "rules_held_at_guard",
                "rules.held_at: \"r\" has no steps that could be held"
            ),
            ("UPDATE rules SET held_at = 'infinity'", "rules_held_at_check", "rules.held_at: an infinite time"),
        ]
        for (sql, constraint, message) in refusals {
            let error = await #expect(throws: PostgresError.self, "\(sql)") {
                try await connection.execute("BEGIN; \(sql); COMMIT")
            }
            try await connection.execute("ROLLBACK")
            #expect(error?.constraint == constraint, "\(sql)")
            #expect(error?.message == message, "\(sql)")
            #expect(error?.hint?.isEmpty == false, "\(sql)")
        }
    }

    @Test("No edit of a hold lets steps that it kept back begin at once; an undo that does says so")
    func skipsNoStep() async throws {
        let warnings = Mutex<[String]>([])
        let connection = try await Self.database { notice in warnings.withLock { $0.append(notice.message) } }
        let setUp = """
            BEGIN; DELETE FROM rollout_steps; UPDATE rules SET held_at = NULL; COMMIT; BEGIN;
            INSERT INTO rollout_steps VALUES ('r', '2000-01-01Z', 10), ('r', '2001-01-01Z', 50), ('r', '2126-01-01Z', 100);
            """
        try await connection.execute("\(setUp) COMMIT")
        try await connection.execute("UPDATE rules SET held_at = '2000-06-01Z'")
        for edit in ["held_at = NULL", "held_at = now()", "held_at = '2001-01-01Z'", "held_at = '2126-01-01Z'"] {
            let error = await #expect(throws: PostgresError.self, "\(edit)") {
                try await connection.execute("UPDATE rules SET \(edit)")
            }
            #expect(error?.constraint == "rules_hold_guard", "\(edit)")
            #expect(error?.message == "rules.held_at: \"r\" would reach 50 % of installs at once", "\(edit)")
            #expect(error?.hint?.contains("SELECT * FROM resume_rule('r');") == true, "\(edit)")
        }
        for edit in [
            "UPDATE rules SET held_at = '2000-12-31Z'", "UPDATE rules SET held_at = '2000-06-01Z'",
            // What somebody writes is meant.
            "UPDATE rules SET held_at = NULL; UPDATE rollout_steps SET rollout = 60 WHERE rollout = 50",
        ] {
            try await connection.execute("BEGIN; \(edit); COMMIT")
        }
        try await connection.execute("\(setUp) UPDATE rules SET held_at = '2000-06-01Z'; COMMIT")
        warnings.withLock { $0 = [] }
        try await connection.execute("UPDATE rules SET title = 'u'")
        #expect(warnings.withLock(\.self) == [])
        try await connection.execute(
            "BEGIN; UPDATE rules SET held_at = NULL; UPDATE rollout_steps SET at = at + interval '200 years' WHERE at > '2000-06-01Z'; COMMIT"
        )
        try await connection.execute("SELECT hold_rule('r', '2000-06-01Z')")
        let again = try await connection.query("SELECT max(id) FROM changes").value(as: Int64.self)
        try await connection.execute("UPDATE rollout_steps SET at = at - interval '200 years' WHERE at > '2000-06-01Z'")
        try await connection.query("SELECT undo_change($1)", [again])
        #expect(
            warnings.withLock(\.self) == [
                "rule \"r\" reaches 50 % of installs at once: the steps that its hold kept back have begun"
            ]
        )
    }

    @Test("The end of the hold of a lockout of everybody needs consent, as more get it then; the hold needs none")
    func needsConsent() async throws {
        let connection = try await Self.database()
        try await connection.execute(
            """
            BEGIN; SET LOCAL versiongate.consent = 'r';
            INSERT INTO rollout_steps VALUES ('r', '2000-01-01Z', 10), ('r', '2126-01-01Z', 50);
            UPDATE rules SET lockout = true, lockout_without_update = true; COMMIT; SELECT hold_rule('r')
            """
        )
        for end in ["SELECT resume_rule('r')", "UPDATE rules SET held_at = NULL"] {
            let error = await #expect(throws: PostgresError.self, "\(end)") { try await connection.execute(end) }
            #expect(error?.constraint == "lockout_needs_consent", "\(end)")
        }
        try await connection.execute("BEGIN; SET LOCAL versiongate.consent = 'r'; SELECT resume_rule('r'); COMMIT")
    }

    /// A ramp as it was planned, and how long it was held: the oracle.
    private struct Plan {
        /// Microseconds of the ramp's own time, which stands still while it is held.
        var steps: [(offset: Int64, share: String)]
        var progress: Int64 = 0
        var isHeld = false

        func share(at progress: Int64) -> String { steps.last { $0.offset <= progress }?.share ?? "0" }
        var hasStepToCome: Bool { steps.contains { progress < $0.offset } }
    }

    @Test(
        "A ramp that is held and resumed at random gives no client less than before, and goes through every step in order",
        arguments: 0..<Trials.count(4)
    )
    func randomHolds(part: Int) async throws {
        let seed = ComparisonSettings.current.seed(ofPart: part) &+ UInt64(part)
        var random = SeededGenerator(seed: seed)
        let connection = try await Self.database()
        var (holds, resumptions, refusals, compared) = (0, 0, 0, 0)
        for number in 0..<Trials.count(300) {
            let comment: Comment = "VERSIONGATE_SEED=\(seed), part \(part), ramp \(number)"
            let offsets = Set(
                (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    Int64.random(in: 1...12, using: &random) * 3_600_000_000 + random.pick([0, 0, -1, 1])
                }
            ).sorted()
            let shares = ["5", "10", "50", "99.99", "100"].suffix(offsets.count)
            var plan = Plan(steps: zip(offsets, shares).map { ($0, $1) })
            let rows = plan.steps.map { "('r', '\(Self.noon.advanced(byMicroseconds: $0.offset))', \($0.share))" }
            try await connection.execute(
                """
                BEGIN; DELETE FROM rollout_steps; UPDATE rules SET held_at = NULL, rollout = 0; COMMIT;
                INSERT INTO rollout_steps VALUES \(rows.joined(separator: ", "))
                """
            )
            var time = Self.noon
            var seen = ["0"]
            for _ in 0..<8 {
                let elapsed =
                    Int64.random(in: 0...5, using: &random) * 3_600_000_000 + random.pick([0, 1, 1_800_000_000])
                let policy = try await PolicyReader.policy(connection)
                let rule = try #require(policy.rules.first)
                // The moments at which the oracle sees a step begin, those beside them, and the next edit's.
                let begins = plan.isHeld ? [] : plan.steps.map { $0.offset - plan.progress }
                let moments = Set(begins.flatMap { [$0 - 1, $0] } + [0, elapsed]).filter { (0...elapsed).contains($0) }
                for moment in moments.sorted() {
                    let at = time.advanced(byMicroseconds: moment)
                    let expected = plan.share(at: plan.isHeld ? plan.progress : plan.progress + moment)
                    #expect(try await Self.share(connection, at) == expected, comment)
                    #expect("\(rule.rollout(at: at))" == expected, comment)
                    if seen.last != expected { seen.append(expected) }
                    compared += 1
                }
                time = time.advanced(byMicroseconds: elapsed)
                if !plan.isHeld { plan.progress += elapsed }
                if random.chance(50) {
                    do {
                        try await connection.query("SELECT hold_rule('r', $1::text::timestamptz)", ["\(time)"])
                        #expect(plan.isHeld || plan.hasStepToCome, comment)
                        plan.isHeld = true
                        holds += 1
                    } catch let error as PostgresError where error.constraint == "rules_held_at_guard" {
                        #expect(!plan.isHeld && !plan.hasStepToCome, comment)
                        refusals += 1
                    }
                } else {
                    try await connection.query("SELECT resume_rule('r', $1::text::timestamptz)", ["\(time)"])
                    plan.isHeld = false
                    resumptions += 1
                }
            }
            // In order, and none left out.
            #expect(seen == Array((["0"] + plan.steps.map(\.share)).prefix(seen.count)), comment)
        }
        print("Compared \(compared) shares, \(holds) holds, \(resumptions) resumptions, \(refusals) refused")
        #expect(holds > 0 && resumptions > 0 && compared > 0)
    }
}
