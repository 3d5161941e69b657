import TestPolicies
import TestRandom
import Testing

@testable import UpdatePolicy

@Suite("Conditions")
struct ConditionPropertyTests {
    @Test("A check finds the condition first that is not met when they are asked one by one")
    func random() throws {
        var generator = PolicyGenerator(.crowded, SeededGenerator())
        let seed = generator.random.seed
        print("conditions: seed \(seed)")
        var unmet: Set<Condition> = []
        // Some conditions decide seldom: the policies go on until each has.
        for number in 0..<2_000 where number < 60 || unmet.count < Condition.allCases.count {
            let policy = try CompiledPolicy(generator.policy(rules: 20))
            for _ in 0..<10 {
                let client = try generator.client()
                let time = generator.time().microsecondsSince1970
                let app = policy.app(of: client)
                let platform = policy.platformNumbers.number(of: client)
                for group in [app?.rules, policy.rulesForEveryApp].compactMap(\.self) {
                    let facts = CheckFacts(client, platform: platform, time: time, on: group.scales)
                    var offers = OfferSearch(.pass)
                    for index in group.rules.indices {
                        let first = group.firstUnmetCondition(of: index, by: client, facts, app, &offers)
                        let asked = Condition.allCases.first {
                            !group.meets($0, group.rules[index], index, client, facts)
                        }
                        if let first { unmet.insert(first) }
                        // Releases and the app decide these as well, which are not asked here.
                        let isDecidedElsewhere = first == .target || first == .paused
                        let isLater = asked.map { Self.order($0) >= first.map(Self.order) ?? 0 } ?? true
                        #expect(isDecidedElsewhere ? isLater : asked == first, "seed \(seed)")
                    }
                }
            }
        }
        #expect(unmet.count == Condition.allCases.count, "seed \(seed): only \(unmet)")
    }

    private static func order(_ condition: Condition) -> Int { Condition.allCases.firstIndex(of: condition) ?? 0 }
}
