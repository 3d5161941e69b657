import TestChecks
import TestRandom
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Counts of lockouts")
struct LockoutCountsTests {
    private struct Name: Hashable {
        let rule: String
        let bundle: String?
        let minute: Int64
    }

    private static func minutes(_ minutes: Double) -> Timestamp {
        CountedPolicy.noon.advanced(byMicroseconds: Int64(minutes * 60_000_000))
    }

    /// Lockouts, one without a fuse, and some rules that must not be counted although they look like it.
    private static let rules: [Rule] = {
        func rule(_ key: String, _ bundle: String?, _ change: (inout Rule) -> Void = { _ in }) -> Rule {
            var rule = Rule(key: key, title: "t", text: "x") {
                $0.bundle = bundle
                $0.versions = "<1.1"
            }
            rule.lockout = true
            rule.lockoutWithoutUpdate = true
            rule.fuse = Percentage(hundredths: 500)
            change(&rule)
            return rule
        }
        return [
            rule("own", "doto"), rule("every", nil) { $0.versions = "<1.2" },
            rule("way-out", "doto") { rule in
                rule.versions = "<2"
                rule.lockoutWithoutUpdate = false
            },
            rule("later", "doto") { $0.startsAt = minutes(2.4) }, rule("over", "doto") { $0.endsAt = minutes(2.6) },
            rule("ramp", "doto") { rule in
                rule.rollout = .zero
                rule.steps = [RolloutStep(at: minutes(3), rollout: Percentage(hundredths: 5_000) ?? .all)]
            },
            rule("behind", "doto") { $0.position = 9 }, rule("paused", "paused"),
            rule("no-fuse", "doto") { $0.fuse = nil }, rule("message", "doto") { $0.lockout = false },
            rule("off", "doto") { $0.enabled = false },
        ]
    }()

    private static func policy(revision: Int64, _ rules: [Rule] = rules) throws -> CompiledPolicy {
        var paused = App(bundle: "paused")
        paused.paused = true
        return try CompiledPolicy(
            Policy(
                revision: revision, token: "\(revision)", apps: [App(bundle: "doto"), App(bundle: "other"), paused],
                releases: [
                    Release(id: 1, bundle: "doto", platform: "ios", version: "3.0") {
                        $0.liveAt = minutes(-99)
                    }
                ],
                rules: rules
            )
        )
    }

    /// The rules that may lock out a client of an app at a time, read from the rows.
    private static func armed(_ bundle: String?, at time: Timestamp) -> [Rule] {
        rules.filter { rule in
            let share = rule.steps.filter { $0.at <= time }.last?.rollout ?? rule.rollout
            return rule.enabled && rule.lockout && (rule.bundle == nil || rule.bundle == bundle)
                && bundle != "paused" && rule.startsAt.map { $0 <= time } ?? true
                && rule.endsAt.map { time < $0 } ?? true
                && share > .zero
        }
    }

    @Test("Counts of lockouts are those of a naive count: by rule, app and minute, while the rule may lock out")
    func agreesWithNaiveCount() throws {
        var random = SeededGenerator()
        print("counts of lockouts: VERSIONGATE_SEED=\(random.seed) repeats this")
        let recorder = CheckRecorder(limit: CardinalityLimit(maximum: 10))
        var policies = [try Self.policy(revision: 7)]
        var expected: [Int64: [Name: [Int]]] = [:]
        var counted: [Int64: [Name: [Int]]] = [:]
        func drain() {
            for part in recorder.drainLockouts() {
                for load in part.all {
                    let minute =
                        (part.minute.microsecondsSince1970 - CountedPolicy.noon.microsecondsSince1970) / 60_000_000
                    let name = Name(rule: load.rule, bundle: load.bundle, minute: minute)
                    #expect(load.hasFuse == (load.rule != "no-fuse"))
                    let before = counted[part.revision, default: [:]][name] ?? [0, 0]
                    counted[part.revision, default: [:]][name] = [before[0] + load.checks, before[1] + load.lockouts]
                }
            }
        }
        var minute = 0.0
        for number in 0..<4_000 {
            minute += Double.random(in: 0...0.003, using: &random)
            if number == 1_500 { policies.append(try Self.policy(revision: 8)) }
            if random.chance(1) { drain() }
            let policy = policies[policies.count - 1]
            let time = Self.minutes(minute)
            let bundle = random.pick(["doto", "DoTo", "other", "paused", "nobody"])
            let client = try CountedPolicy.client([
                "bundle": bundle, "version": random.pick(["1.0", "1.1", "1.2", "2"]), "platform": "ios",
                "install": "\(random.next())",
            ])
            try recorder.answer(policy, client, at: time)
            let app = bundle == "nobody" ? nil : bundle.lowercased()
            let messages = policy.messages(for: client, at: time)
            for rule in Self.armed(app, at: time) {
                let name = Name(rule: rule.key, bundle: app, minute: Int64(minute))
                let isLockedOut = messages.contains { $0.id == rule.key && $0.lockout }
                let before = expected[policy.revision, default: [:]][name] ?? [0, 0]
                expected[policy.revision, default: [:]][name] = [before[0] + 1, before[1] + (isLockedOut ? 1 : 0)]
            }
        }
        drain()
        #expect(counted == expected)
        #expect(recorder.drainLockouts().isEmpty)
        let keys = Set(counted.values.flatMap { $0.keys.map(\.rule) })
        #expect(keys == ["own", "every", "way-out", "later", "over", "ramp", "behind", "no-fuse"])
        #expect(policies[0].armedFuseCount == 7)
    }

    @Test("A policy without a lockout has none counted, and under the brake none is")
    func keepsNothingWithoutLockouts() throws {
        let recorder = CheckRecorder(limit: CardinalityLimit(maximum: 10))
        let plain = try Self.policy(
            revision: 1,
            Self.rules.map { rule in
                var rule = rule
                rule.lockout = false
                return rule
            }
        )
        #expect(!plain.hasLockouts && !plain.hasFuses && plain.armedFuseCount == 0)
        try recorder.answer(plain, CountedPolicy.client(["version": "1.0"]))
        let braked = try Self.policy(revision: 1).sendingLockouts(false)
        #expect(braked.hasLockouts && braked.hasFuses)
        try recorder.answer(braked, CountedPolicy.client(["version": "1.0"]))
        #expect(recorder.drainLockouts().isEmpty)
    }
}
