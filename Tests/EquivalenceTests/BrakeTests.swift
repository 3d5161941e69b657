import Foundation
import PolicyStore
import Postgres
import TestDatabase
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

/// What the role `versiongate_brake` does takes away, and gives nobody anything.
@Suite("Brakes", .migratedDatabase)
struct BrakeTests {
    /// What a client gets at a time.
    private struct Received {
        let messages: Set<String>
        let lockouts: Set<String>

        init(_ policy: CompiledPolicy, _ check: Check) throws {
            let sent = policy.messages(for: try check.client.client(), at: check.time)
            messages = Set(sent.map(\.id))
            lockouts = Set(sent.filter(\.lockout).map(\.id))
        }
    }

    /// Policies whose times are about now, with many ramps and final rules.
    private static func style() -> PolicyStyle {
        var style = PolicyStyle.lifelike
        let now = Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970))
        style.pools.places = [(now, "UTC")]
        style.chances.set([\.steps: 70, \.final: 35, \.held: 15])
        return style
    }

    @Test("No order of the calls of a brake lets any client get more, now or later", arguments: 0..<Trials.count(2))
    func onlyLessens(part: Int) async throws {
        let seed = ComparisonSettings.current.generatorSeed(ofPart: part)
        let owner = try await TestDatabase.current.connect()
        let brake = try await TestDatabase.current.connect(user: "versiongate_brake")
        var random = SeededGenerator(seed: seed)
        var generator = PolicyGenerator(Self.style(), random)
        var counts: [String: Int] = [:]
        var (compared, lessened) = (0, 0)
        for number in 0..<Trials.count(200) {
            let scene = generator.scene()
            try await owner.execute("DELETE FROM rules; DELETE FROM apps")
            try await PolicyScript(scene.policy).write(to: owner)
            let bundles = scene.policy.apps.map(\.bundle) + ["unknown"]
            let keys = scene.policy.rules.map(\.key) + ["unknown"]
            var before = try await PolicyReader.policy(owner)
            var old = try CompiledPolicy(before)
            for call in 0..<12 {
                let what = random.pick(["hold", "hold", "lockout", "disable", "disable", "pause"])
                let sql =
                    what == "pause"
                    ? "SELECT brake_app(\(PolicyScript.text(random.pick(bundles))), 'test')"
                    : "SELECT brake_rule(\(PolicyScript.text(random.pick(keys))), '\(what)', 'test')"
                let comment: Comment = "VERSIONGATE_SEED=\(seed), part \(part), policy \(number), call \(call): \(sql)"
                do {
                    try await brake.execute(sql)
                } catch let error as PostgresError where error.sqlState?.isIntegrityViolation == true {
                    counts["\(what): \(error.constraint ?? "")", default: 0] += 1
                    continue
                }
                let after = try await PolicyReader.policy(owner)
                counts[after == before ? "\(what): was so" : what, default: 0] += 1
                guard after != before else { continue }
                let new = try CompiledPolicy(after)
                var checks = CheckGenerator(scene, seed: random.next())
                let earliest = Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970) + 1)
                for _ in 0..<40 {
                    var check = checks.check()
                    if check.time < earliest { check = Check(client: check.client, time: earliest) }
                    let (had, has) = (try Received(old, check), try Received(new, check))
                    #expect(has.messages.isSubset(of: had.messages), "\(comment), \(check.json)")
                    #expect(has.lockouts.isSubset(of: had.lockouts), "\(comment), \(check.json)")
                    compared += 1
                    if had.messages != has.messages || had.lockouts != has.lockouts { lessened += 1 }
                }
                (before, old) = (after, new)
            }
        }
        print("Compared \(compared) checks, \(lessened) got less; \(counts.sorted { $0.key < $1.key })")
        for turn in ["hold", "lockout", "disable", "pause", "disable: rules_brake_guard", "hold: rules_held_at_guard"] {
            #expect(counts[turn] ?? 0 > 0 || !Trials.areLong, "\(turn)")
        }
        #expect(lessened > 0)
    }

    private static let finalRules = """
        INSERT INTO apps (bundle) VALUES ('a'), ('b');
        INSERT INTO rules (key, bundle, title, text, final, enabled, rollout) VALUES
            ('last', 'a', 't', 'x', true, true, 100), ('ramp', 'b', 't', 'x', true, true, 0);
        INSERT INTO rollout_steps VALUES ('ramp', '2000-01-01Z', 10), ('ramp', '2126-01-01Z', 50);
        INSERT INTO rules (key, position, title, text, enabled) VALUES ('z', 1, 't', 'x', false);
        """

    @Test("A brake cannot uncover what another enables behind a final rule at the same time, at any isolation level")
    func uncoversNothing() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(Self.finalRules)
        let brake = try await TestDatabase.current.connect(user: "versiongate_brake")
        for (level, call) in [
            ("READ COMMITTED", "brake_rule('last', 'disable')"), ("READ COMMITTED", "brake_rule('ramp', 'hold')"),
            ("REPEATABLE READ", "brake_rule('last', 'disable')"), ("SERIALIZABLE", "brake_rule('last', 'disable')"),
        ] {
            let comment: Comment = "\(level): \(call)"
            let error = await #expect(throws: PostgresError.self, comment) {
                try await brake.transaction { session in
                    try session.execute("SET TRANSACTION ISOLATION LEVEL \(level); SELECT \(call)")
                    session.hold { try await owner.execute("UPDATE rules SET enabled = true WHERE key = 'z'") }
                }
            }
            let isGuarded = error?.constraint == "rules_brake_guard"
            #expect(isGuarded || error?.sqlState?.rawValue == "40001", "\(comment): \(error?.message ?? "")")
            if isGuarded {
                #expect(error?.detail == "After it: z.", comment)
                #expect(error?.hint?.contains("let an admin do this") == true)
            }
            let state = "SELECT string_agg(key, ' ' ORDER BY key) FROM rules WHERE enabled AND held_at IS NULL"
            #expect(try await owner.query(state).value(as: String.self) == "last ramp z", comment)
            try await owner.execute("UPDATE rules SET enabled = false WHERE key = 'z'")
        }
    }
}
