import TestChecks
import TestRandom
import Testing

@testable import CheckListener
@testable import UpdatePolicy

@Suite("Check recorder")
struct CheckRecorderTests {
    /// Checks of a recorder with a bound, and what it counts of them.
    struct Example: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var bound = 10
        let checks: [[String: String]]
        let kinds: [String: [Int]]
        var rules: [String: [Int]] = [:]
        var unlisted = 0
        var unreadable = 0
        var beyondBound = 0
    }

    static let examples = [
        Example(
            testDescription: "by app, platform, version, build, region and system, and by rule",
            checks: [
                ["version": "1.1", "platform": "iOS", "region": "de_DE"],
                ["version": "1.1", "platform": "ipados", "region": "DE"], ["version": "1.3", "os": "17"],
                ["version": "1.0", "install": "a"],
            ],
            kinds: [
                "12 doto ios 1.1 - DE -": [2, 2, 0], "12 doto - 1.3 - - 17": [1, 0, 0],
                "12 doto - 1.0 - - -": [1, 1, 1],
            ],
            rules: ["12 update": [3, 0], "12 old": [1, 1]]
        ),
        Example(
            testDescription: "the app as the policy spells it, whatever the client writes",
            checks: ["doto", "DOTO", "Doto"].map { ["bundle": $0, "version": "2"] },
            kinds: ["12 doto - 2 - - -": [3, 0, 0]]
        ),
        Example(
            // Rules may name a bundle that no app has.
            testDescription: "apps that are not in the policy without their kind",
            checks: [["bundle": "unknown", "version": "1"], ["bundle": "unlisted", "version": "1"]],
            kinds: ["12 other": [2, 1, 0]], rules: ["12 unlisted": [1, 0]], unlisted: 2
        ),
        Example(
            testDescription: "versions that cannot be read as they were written",
            checks: ["2.1.3.alpha.42", "2.1.3.alpha.42", "\u{E9}", "2", ""].map { ["version": $0] },
            kinds: [
                "12 doto - 2.1.3.alpha.42 - - -": [2, 0, 0], "12 doto - \\u{e9} - - -": [1, 0, 0],
                "12 doto - 2 - - -": [1, 0, 0], "12 doto - - - - -": [1, 0, 0],
            ],
            unreadable: 3
        ),
        Example(
            testDescription: "kinds beyond the bound without their kind, and those it knows as before", bound: 3,
            checks: ["2.1", "2.2", "2.3", "2.4", "2.5", "2.1", "2.4"].map { ["version": $0] },
            kinds: [
                "12 doto - 2.1 - - -": [2, 0, 0], "12 doto - 2.2 - - -": [1, 0, 0], "12 doto - 2.3 - - -": [1, 0, 0],
                "12 other": [3, 0, 0],
            ],
            beyondBound: 3
        ),
        Example(
            testDescription: "nothing apart with a bound of nothing, a release neither, but rules", bound: 0,
            checks: [["version": "1.0"], ["version": "3.0", "platform": "ios"]], kinds: ["12 other": [2, 1, 1]],
            rules: ["12 update": [1, 0], "12 old": [1, 1]], beyondBound: 2
        ),
    ]

    @Test("The recorder counts", arguments: examples)
    func counts(_ example: Example) throws {
        let recorder = CheckRecorder(limit: CardinalityLimit(maximum: example.bound))
        let policy = try CountedPolicy.policy()
        for check in example.checks { try recorder.answer(policy, CountedPolicy.client(check)) }
        let counted = Counted(recorder, at: CountedPolicy.noon)
        #expect(counted.kinds == example.kinds)
        #expect(counted.rules == example.rules)
        let totals = recorder.totals
        #expect(totals.recorded == example.checks.count && totals.unlistedApp == example.unlisted)
        #expect(totals.unreadableVersion == example.unreadable && totals.beyondBound == example.beyondBound)
    }

    @Test("The recorder counts checks before there is a policy without their kind")
    func countsWithoutAPolicy() throws {
        let recorder = CheckRecorder(limit: CardinalityLimit(maximum: 10))
        recorder.record(try CountedPolicy.client(["version": "1"]), Answer(), nil, at: CountedPolicy.noon)
        #expect(Counted(recorder, at: CountedPolicy.noon).kinds == ["12 other": [1, 0, 0]])
        #expect(recorder.totals.unlistedApp == 1)
    }

    @Test("The recorder stays exact for honest clients in a flood of made-up ones, and in a bounded table")
    func outlivesAFlood() throws {
        let maximum = 1_000
        let limit = CardinalityLimit(maximum: maximum)
        let recorders = [CheckRecorder(limit: limit), CheckRecorder(limit: limit)]
        let policy = try CountedPolicy.policy()
        let known = (0..<250).map { ClientKind(bundle: "doto", platform: "ios", version: "2.\($0)", region: "DE") }
        limit.learn(known)
        var random = SeededGenerator()
        let seed = random.seed
        func flood(_ checks: Int) throws {
            for number in 0..<checks {
                // Versions that nobody has, and builds of the release that nobody has.
                let isReleased = random.chance(50)
                let client = try CountedPolicy.client([
                    "version": isReleased ? "3.0" : "9.\(number).\(random.next())", "platform": "ios",
                    "build": "\(random.next())", "region": random.pick(["DE", "JP", "US"]),
                ])
                try random.pick(recorders).answer(policy, client)
            }
        }
        try flood(20_000)
        // Those of the last days, those of the new release by their version, and those of another app.
        var released = 0
        for number in 0..<2_000 {
            let recorder = random.pick(recorders)
            try recorder.answer(
                policy,
                CountedPolicy.client(["version": "2.\(number % 250)", "platform": "iPadOS", "region": "de_DE"])
            )
            try recorder.answer(policy, CountedPolicy.client(["bundle": "other", "version": "1.\(number % 10)"]))
            released += 1
            try recorder.answer(
                policy,
                CountedPolicy.client(["version": "3", "platform": "ios", "os": "26.1", "region": "FR"])
            )
        }
        try flood(20_000)
        var counted = Counted()
        for recorder in recorders { counted.add(recorder, at: CountedPolicy.noon) }
        for number in 0..<250 { #expect(counted.kinds["12 doto ios 2.\(number) - DE -"]?[0] == 8, "seed \(seed)") }
        for number in 0..<10 { #expect(counted.kinds["12 other - 1.\(number) - - -"]?[0] == 200, "seed \(seed)") }
        let ofRelease = counted.kinds.filter { $0.key.hasPrefix("12 doto ios 3") }.reduce(0) { $0 + $1.value[0] }
        let madeUp = counted.kinds.filter { $0.key.hasPrefix("12 doto ios 9") }.reduce(0) { $0 + $1.value[0] }
        let others = counted.kinds["12 other"]?[0] ?? 0
        #expect(ofRelease + madeUp + others == 42_000, "seed \(seed)")
        #expect(ofRelease > 18_000, "seed \(seed)")
        #expect(counted.kinds.count <= maximum + known.count + 2, "seed \(seed)")
        let beyondBound = recorders.reduce(0) { $0 + $1.totals.beyondBound }
        #expect(counted.merged == ["12 doto": beyondBound], "seed \(seed)")
        #expect(beyondBound > 38_000, "seed \(seed)")
    }

    @Test("The recorder counts each check in the hour it was answered in, to the microsecond")
    func turnsTheHour() throws {
        let recorder = CheckRecorder(limit: CardinalityLimit(maximum: 10))
        let policy = try CountedPolicy.policy()
        let client = try CountedPolicy.client(["version": "1.1"])
        let last = CountedPolicy.hours(1).advanced(byMicroseconds: -1)
        for time in [CountedPolicy.noon, last, CountedPolicy.hours(1), last, CountedPolicy.hours(2)] {
            try recorder.answer(policy, client, at: time)
        }
        let counted = Counted(recorder, at: CountedPolicy.hours(2))
        #expect(
            counted.kinds == [
                "12 doto - 1.1 - - -": [3, 3, 0], "13 doto - 1.1 - - -": [1, 1, 0], "14 doto - 1.1 - - -": [1, 1, 0],
            ]
        )
        #expect(counted.rules == ["12 update": [3, 0], "13 update": [1, 0], "14 update": [1, 0]])
    }

    @Test("The recorder counts a rule under its key when its place in the policy changes")
    func followsRules() throws {
        let recorder = CheckRecorder(limit: CardinalityLimit(maximum: 10))
        let client = try CountedPolicy.client(["version": "1.1"])
        try recorder.answer(CountedPolicy.policy(), client)
        try recorder.answer(CountedPolicy.policy(withRulesBefore: ["first", "second"]), client)
        #expect(
            Counted(recorder, at: CountedPolicy.noon).rules == [
                "12 update": [2, 0], "12 first": [1, 0], "12 second": [1, 0],
            ]
        )
    }

    @Test("The recorder agrees with a dictionary on thousands of random checks, whatever is taken over meanwhile")
    func agreesWithADictionary() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let recorder = CheckRecorder(limit: CardinalityLimit(maximum: .max))
        let policy = try CountedPolicy.policy()
        var counted = Counted()
        var expected = Counted()
        for number in 0..<20_000 {
            let time = CountedPolicy.hours(Int64(number / 4_000))
            let client = try CountedPolicy.randomClient(using: &generator)
            try recorder.answer(policy, client, at: time)
            expected.add(client, policy.messages(for: client, at: time), at: time)
            if Int.random(in: 0..<2_000, using: &generator) == 0 { counted.add(recorder, at: time) }
        }
        counted.add(recorder, at: CountedPolicy.hours(5))
        #expect(counted.kinds == expected.kinds, "seed \(seed)")
        #expect(counted.rules == expected.rules, "seed \(seed)")
        #expect(counted.kinds.count > 1_000)
        #expect(recorder.totals.recorded == 20_000)
    }

    @Test("The recorder loses nothing that is counted while counts are taken over from another thread")
    func survivesConcurrency() async throws {
        let recorder = CheckRecorder(limit: CardinalityLimit(maximum: 500))
        let policy = try CountedPolicy.policy()
        let checks = 20_000
        let total = try await withThrowingTaskGroup(of: Int?.self) { tasks in
            tasks.addTask {
                var generator = SeededGenerator(seed: 7)
                for _ in 0..<checks { try recorder.answer(policy, CountedPolicy.randomClient(using: &generator)) }
                return nil
            }
            tasks.addTask {
                var total = 0
                while total < checks, !Task.isCancelled {
                    for piece in recorder.drain(at: CountedPolicy.noon) {
                        total += piece.others.checks + piece.kinds.map { $1.checks }.reduce(0, +)
                    }
                }
                return total
            }
            return try await tasks.compactMap { $0 }.reduce(0, +)
        }
        #expect(total == checks)
    }
}
