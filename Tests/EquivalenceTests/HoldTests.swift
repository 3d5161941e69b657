import PolicyStore
import Postgres
import TestDatabase
import TestRandom
import Testing
import UpdatePolicy

@Suite("Held ramps", .migratedDatabase)
struct HoldTests {
    /// In the future, where no step has begun by the clock of the database.
    private static let noon = Timestamp(secondsSince1970: 4_928_040_000)

    private static func database() async throws -> PostgresConnection {
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin")
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
