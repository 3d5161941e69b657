import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@Suite("Rule index")
struct IndexPropertyTests {
    // An explanation asks each rule in turn, without the index.
    @Test("Any client gets what is found when each rule is asked", arguments: [5, 30, 300])
    func random(_ rules: Int) throws {
        var generator = PolicyGenerator(.crowded, SeededGenerator())
        let seed = generator.random.seed
        print("index, \(rules) rules: seed \(seed)")
        var messages = 0
        var lockouts = 0
        for _ in 0..<(1_200 / rules + 2) {
            let policy = generator.policy(rules: rules)
            let compiled = try CompiledPolicy(policy)
            let isLockout = Dictionary(uniqueKeysWithValues: policy.rules.map { ($0.key, $0.lockout) })
            for _ in 0..<15 {
                var client = try generator.client()
                if generator.random.chance(30) { try client.set("manual", to: .boolean(true)) }
                let time = generator.time()
                let sent = compiled.keys(client, at: time)
                let explained = compiled.explain(client, at: time).compactMap { rule in
                    switch rule.outcome {
                    case .sent: rule.key + (isLockout[rule.key] == true ? "!" : "")
                    case .sentWithoutLockout: rule.key
                    case .noMatch, .afterAFinalRule: nil
                    }
                }
                #expect(sent == explained, "\(client) at \(time), seed \(seed)")
                messages += sent.count
                lockouts += sent.count { $0.hasSuffix("!") }
            }
        }
        #expect(messages > 50)
        #expect(rules < 30 || lockouts > 0)
    }

    @Test("Long lists are judged as short ones are")
    func longLists() throws {
        var random = SeededGenerator()
        let seed = random.seed
        print("long lists: seed \(seed)")
        let subtags = ["a", "de", "de1", "x", "zh", "zh0"]
        func tag() -> String {
            let count = Int.random(in: 1...4, using: &random)
            return (0..<count).map { _ in random.pick(subtags) }.joined(separator: random.pick(["-", "_"]))
        }
        func some<Value>(_ make: () -> Value) -> [Value] {
            (0..<Int.random(in: 1...40, using: &random)).map { _ in make() }
        }
        let regions = Region.all.map(\.code)
        var sent = 0
        for number in 0..<300 {
            let rules = (0..<20).map { rule in
                TestPolicy.rule("r\(rule)") {
                    switch rule % 5 {
                    case 0: $0.languages = some(tag) + (rule == 10 ? ["*"] : [])
                    case 1: $0.regions = some { random.pick(regions) }
                    case 2: $0.versions = some { "\(Int.random(in: 0..<30, using: &random))" }.joined(separator: "||")
                    case 3:
                        let names = Set(some { "a\(Int.random(in: 0..<6, using: &random))" }.prefix(3))
                        $0.attributes = names.sorted().map { name in
                            let texts = some(tag).map { UTF8Text($0) }
                            return AttributeCondition(name: name, random.chance(30) ? .not(texts) : .among(texts))
                        }
                        if random.chance(30) { $0.endsAt = TestPolicy.hours(30) }
                    default:
                        $0.rollout = .zero
                        let times = Set(some { Int64.random(in: 0..<60, using: &random) })
                        $0.steps = times.map {
                            RolloutStep(at: TestPolicy.hours($0), rollout: random.chance(50) ? .all : .zero)
                        }
                    }
                    var languages: Set<LanguageTag> = []
                    let texts = some(tag).filter { languages.insert(LanguageTag($0)).inserted }
                    $0.texts = texts.map { RuleText(language: $0, title: $0, text: "") }
                }
            }
            let policy = Policy(revision: 1, token: "t", apps: [App(bundle: TestPolicy.bundle)], rules: rules)
            let compiled = try CompiledPolicy(policy)
            for _ in 0..<10 {
                var client = try TestPolicy.client([
                    "language": tag(), "region": random.pick(regions),
                    "version": "\(Int.random(in: 0..<30, using: &random))",
                ])
                for name in 0..<Int.random(in: 0...6, using: &random) {
                    try client.set(UTF8Text("a\(name)"), to: .text(UTF8Text(tag())))
                }
                let time = TestPolicy.hours(Int64.random(in: -1..<61, using: &random))
                let messages = compiled.messages(for: client, at: time)
                let comment: Comment = "policy \(number), \(client) at \(time), seed \(seed)"
                let explained = compiled.explain(client, at: time).filter { $0.outcome == .sent }
                #expect(messages.map(\.id) == explained.map(\.key), comment)
                sent += messages.count
                for message in messages {
                    let texts = rules.first { $0.key == message.id }?.texts ?? []
                    let found = client.language?.lookup(in: texts.map { LanguageTag($0.language) })
                    #expect(message.title == found.map { texts[$0].title } ?? message.id, comment)
                }
            }
        }
        #expect(sent > 3_000)
    }

    @Test("A policy that is updated app by app answers as if it were compiled at once")
    func updates() throws {
        var generator = PolicyGenerator(.crowded, SeededGenerator())
        let seed = generator.random.seed
        print("updates: seed \(seed)")
        for _ in 0..<30 {
            var updated = try CompiledPolicy(generator.policy(rules: 20))
            for _ in 0..<5 {
                let next = generator.policy(rules: 20)
                let bundles = next.apps.map(\.bundle).filter { _ in generator.random.chance(60) }
                let includesRulesForEveryApp = generator.random.chance(50)
                func isPart(_ bundle: String?) -> Bool {
                    bundle.map(bundles.contains) ?? includesRulesForEveryApp
                }
                var expected = updated.policy
                expected.revision += 1
                // The keys of what stays are in use.
                let kept = Set(expected.rules.filter { !isPart($0.bundle) }.map(\.key))
                let part = Policy(
                    revision: expected.revision, token: "t",
                    apps: next.apps.filter { isPart($0.bundle) && generator.random.chance(80) },
                    releases: next.releases.filter { isPart($0.bundle) },
                    rules: next.rules.filter { isPart($0.bundle) && !kept.contains($0.key) }
                )
                expected.apps = expected.apps.filter { !isPart($0.bundle) } + part.apps
                expected.releases = expected.releases.filter { !isPart($0.bundle) } + part.releases
                expected.rules = expected.rules.filter { !isPart($0.bundle) } + part.rules
                updated = try updated.updated(
                    with: PolicyUpdate(
                        bundles: bundles, includesRulesForEveryApp: includesRulesForEveryApp, policy: part
                    )
                )
                let whole = try CompiledPolicy(expected)
                #expect(updated.revision == whole.revision)
                #expect(updated.ruleCount == whole.ruleCount)
                #expect(updated.appCount == whole.appCount)
                #expect(updated.releaseCount == whole.releaseCount)
                #expect(Set(updated.policy.rules.map(\.key)) == Set(whole.policy.rules.map(\.key)), "seed \(seed)")
                for _ in 0..<10 {
                    let client = try generator.client()
                    let time = generator.time()
                    #expect(updated.explain(client, at: time) == whole.explain(client, at: time), "seed \(seed)")
                    #expect(
                        updated.answer(to: client, at: time).body == whole.answer(to: client, at: time).body,
                        "seed \(seed)"
                    )
                }
            }
        }
    }

    @Test("Thousands of ranges that overlap are each found, and only where they hold the version")
    func overlapping() throws {
        let rules = (0..<4_000).map { number in
            TestPolicy.rule("r\(10_000 + number)") { $0.versions = ">=1.\(number) <9.\(number)" }
        }
        let policy = try TestPolicy.policy(rules)
        #expect(policy.keys(try TestPolicy.client(["version": "1.0"])) == ["r10000"])
        #expect(policy.keys(try TestPolicy.client(["version": "1.2"])) == ["r10000", "r10001", "r10002"])
        #expect(policy.keys(try TestPolicy.client(["version": "9.3998"])) == ["r13999"])
        #expect(policy.keys(try TestPolicy.client(["version": "9.3999"])) == [])
        #expect(policy.messages(for: try TestPolicy.client(["version": "5"]), at: TestPolicy.noon).count == 4_000)
    }

    @Test("Rules without a version are found by what else they ask for")
    func otherConditions() throws {
        let rules = (0..<200).flatMap { number in
            [
                TestPolicy.rule("a\(number)") {
                    $0.attributes = [AttributeCondition(name: "device", values: ["d\(number)", "e\(number)"])]
                },
                TestPolicy.rule("b\(number)") { $0.builds = "\(number)" },
                TestPolicy.rule("l\(number)") { $0.languages = ["x\(number)", "x\(number)-y"] },
                TestPolicy.rule("o\(number)") { $0.os = "\(number)" },
                TestPolicy.rule("p\(number)") { $0.platforms = ["p\(number)"] },
                TestPolicy.rule("t\(number)") {
                    $0.startsAt = TestPolicy.hours(Int64(number))
                    $0.endsAt = TestPolicy.hours(Int64(number) + 1)
                },
            ]
        }
        let policy = try TestPolicy.policy(rules)
        let client = try TestPolicy.client([
            "device": "e17", "build": "18.0", "language": "X19_Y", "os": "20", "platform": "P21",
        ])
        #expect(policy.keys(client, at: TestPolicy.hours(22)) == ["a17", "b18", "l19", "o20", "p21", "t22"])
        #expect(policy.keys(try TestPolicy.client(), at: TestPolicy.hours(-1)) == [])
    }

    @Test("Regions and targets are found among many")
    func regionsAndTargets() throws {
        let rules =
            Region.all.map { region in TestPolicy.rule(region.code.lowercased()) { $0.regions = [region.code, "JP"] } }
            + (1...100).flatMap { number in
                [
                    TestPolicy.rule("target\(number)") { $0.target = "1.\(number)" },
                    TestPolicy.rule("within\(number)") {
                        $0.target = "1.\(number)"
                        $0.versions = ">=1.0 <9 || 99"
                    },
                ]
            }
        let releases = [TestPolicy.release("1.98.5")]
        let policy = try TestPolicy.policy(rules, releases: releases)
        let client = try TestPolicy.client(["region": "de_DE", "platform": "ios", "version": "1.96"])
        #expect(policy.keys(client) == ["de", "target97", "target98", "within97", "within98"])
        #expect(policy.keys(try TestPolicy.client(["region": "JP"])).count == 250)
    }
}
