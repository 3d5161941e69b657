import Postgres
import TestDatabase
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

/// `policy_warnings` beside an independent reading of the rows.
@Suite("Policy warnings", .migratedDatabase)
struct PolicyWarningTests {
    /// The policies of a run.
    private static let policies = Trials.areLong ? 2_000 : 40

    /// What is seen in the text of a warning, and which kind that is.
    private static let kinds: [(passage: String, kind: String)] = [
        ("is not filled in", "placeholder"), ("is one value", "list"), ("soak has no effect", "soak"),
        ("fuse has no effect", "fuse"),
        ("lockout_without_update has no effect", "lockout_without_update"), ("skippable have no effect", "hints"),
        ("rollout is in percent", "small"), ("ended at", "ended"), ("is below its target", "above target"),
        (": soak is", "short soak"),
        (": remind is", "short remind"), ("no release and no store link is on", "strange platform"),
        ("right behind letters", "text order"), ("locks out without an update, and has no end", "endless"),
        ("locks out and has no link", "link"), ("leads to the store, but", "store link"),
        ("is staged, so live_at", "staged"), ("has no live_at", "no live_at"), ("was there already", "again"),
        ("has a suffix", "suffix"), ("is never offered", "never offered"), ("has no min_os, and", "min_os"),
        ("is on iphone", "platform"), ("is on osx", "platform"),
    ]

    /// What rests on the status of rules, to which the engine is held.
    private static let ofStatus = [
        "\" is hidden", "\" is waiting", "\" reaches nobody until a release", "nobody has a way out of rule",
    ]

    private static let faults = [
        SpecificationFault(
            "countries of which some have a greater release count as all", seed: 1,
            in: "versiongate_internal.never_offered", "w.regions @> p.regions", becomes: "w.regions && p.regions"
        ),
        SpecificationFault(
            "a release of the same moment was there before", seed: 1, in: "versiongate_internal.never_offered",
            "AND 1 PRECEDING", becomes: "AND CURRENT ROW"
        ),
        SpecificationFault(
            "a min_os is looked for two releases before", seed: 1, in: "versiongate_internal.order_warnings",
            "q.place - 1", becomes: "q.place - 2"
        ),
        SpecificationFault(
            "a day before the way out is too near", seed: 1, in: "versiongate_internal.releases_beside",
            "u.live_at > o.live_at", becomes: "u.live_at >= o.live_at"
        ),
        SpecificationFault(
            "Windows 11 is a number", seed: 1, in: "versiongate_internal.system_meant", "BETWEEN 11",
            becomes: "BETWEEN 12"
        ),
    ]

    @Test("policy_warnings says of random policies what a plain reading of their rows says")
    func agrees() async throws {
        let seed = SeededGenerator().seed
        let connection = try await TestDatabase.current.connect()
        try await connection.withSession { session in
            let outcome = try Self.compare(session, policies: Self.policies, seed: seed)
            print("Compared the warnings of \(outcome.policies) policies, VERSIONGATE_SEED=\(seed): \(outcome.summary)")
            if let difference = outcome.difference { Issue.record("VERSIONGATE_SEED=\(seed)\n\(difference)") }
            if Trials.areLong {
                #expect(Set(Self.kinds.map(\.kind) + ["system", "beside"]).subtracting(outcome.seen.keys) == [])
            }
        }
    }

    @Test("Each fault injected into the warnings is found", .long)
    func findsFaults() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.withSession { session in
            for fault in Self.faults {
                let outcome = try fault.inject(session) {
                    try Self.compare(session, policies: 1_000, seed: fault.seed)
                }
                #expect(outcome.difference != nil, "\(fault.description): not found in \(outcome.policies) policies")
                print("Looked for the fault that \(fault.description) in \(outcome.policies) policies")
            }
        }
    }

    private struct Outcome {
        var policies = 0
        /// How often each kind was seen.
        var seen: [String: Int] = [:]
        var difference: String?

        var summary: String {
            seen.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        }
    }

    /// Compares one policy after the other until one differs.
    private static func compare(_ session: PostgresSession, policies: Int, seed: UInt64) throws -> Outcome {
        var generator = PolicyGenerator(seed: seed)
        var outcome = Outcome()
        while outcome.policies < policies, outcome.difference == nil {
            let scene = generator.scene()
            let policy = unusual(scene.policy, &generator.random)
            outcome.policies += 1
            try SpecificationSession(session: session).withPolicy(policy, timeZone: scene.timeZone) { written in
                let now = try session.query("SELECT versiongate_internal.time_text(now())").value(as: String.self)
                let expected = WarningOracle(policy: written.read, now: try #require(Timestamp(now))).findings
                let found = try findings(session)
                for finding in expected {
                    outcome.seen[String(finding.kind.prefix { $0 != "/" }), default: 0] += 1
                }
                guard found != expected else { return }
                outcome.difference = """
                    not said: \(expected.subtracting(found).sorted())
                    said: \(found.subtracting(expected).sorted())
                    \(PolicyScript(written.accepted).text)
                    """
            }
        }
        return outcome
    }

    /// What the view says.
    private static func findings(_ session: PostgresSession) throws -> Set<WarningOracle.Finding> {
        var found: Set<WarningOracle.Finding> = []
        for row in try session.query("SELECT rule, release::text, warning FROM policy_warnings") {
            let (rule, release) = (try row.decode(0, as: String?.self), try row.decode(1, as: String?.self))
            let warning = try row.decode(2, as: String.self)
            if ofStatus.contains(where: warning.contains) { continue }
            let subject = rule.map { "rule \($0)" } ?? release.map { "release \($0)" } ?? "neither"
            found.insert(.init(subject: subject, kind: kind(of: warning)))
        }
        return found
    }

    private static func kind(of warning: String) -> String {
        if let match = warning.firstMatch(of: /asks for ([a-z]+) [0-9.]+, and no system has that number$/) {
            return "system/\(match.1)"
        }
        if let match = warning.firstMatch(
            of: /locks out .* of ([^ ]+) on ([a-z]+), which went live .* the way out of it/
        ) {
            return "beside/\(match.1) \(match.2)"
        }
        return kinds.first { warning.contains($0.passage) }?.kind ?? warning
    }

    /// A policy with more of what is warned of than random ones have.
    private static func unusual(_ policy: Policy, _ random: inout SeededGenerator) -> Policy {
        var policy = policy
        for index in policy.releases.indices {
            if let version = random.pick(
                ["4.9", "4.9u4", "2025.01.03", "2025.01.0201", "1.2.0+45", "1.2 (46)", "1.2-beta10", "1.2.0"],
                chance: 35
            ) {
                policy.releases[index].version = version
            }
            if let minOS = random.pick(["11", "16.1", "19", "21.6.0", "26", "15", "16-b2"], chance: 20) {
                policy.releases[index].minOS = minOS
            }
            if let platform = random.pick(["android", "macos", "windows", "iphone"], chance: 20) {
                policy.releases[index].platform = platform
            }
            if random.chance(30) { policy.releases[index].regions = nil }
            if random.chance(30), let other = policy.releases.first {
                policy.releases[index].liveAt = other.liveAt
                policy.releases[index].withdrawnAt = nil
            }
        }
        for index in policy.apps.indices where random.chance(5) {
            policy.apps[index].storeLinks.append(StoreLink(platform: "osx", link: "https://apps.example.com/1"))
        }
        for index in policy.rules.indices {
            if let os = random.pick(
                ["<26", ">=16 <18", "<11 || >=22.1", "18.x", "~19.1", "14 - 17", "16-beta.20", "<=16.x"],
                chance: 20
            ) {
                policy.rules[index].os = os
            }
            if random.chance(10), policy.rules[index].target != nil { policy.rules[index].target = "1.2.0+45" }
            if random.chance(10) { policy.rules[index].soak = DayTimeInterval(microseconds: 2_000_000) }
            if random.chance(10) { policy.rules[index].remind = DayTimeInterval(microseconds: 30_000_000) }
            if random.chance(10) { policy.rules[index].fuse = Percentage(hundredths: 5_000) }
            if random.chance(5) { policy.rules[index].lockoutWithoutUpdate = true }
            if random.chance(10) {
                policy.rules[index].platforms = ["ios", random.pick(["iphone", "windows", "macos"])]
            }
            if random.chance(10) { policy.rules[index].builds = random.pick(["<42", "<=1-b2", "41"]) }
            if random.chance(10), policy.rules[index].steps.isEmpty {
                policy.rules[index].rollout = Percentage(hundredths: 50) ?? .all
            }
        }
        return policy
    }
}
