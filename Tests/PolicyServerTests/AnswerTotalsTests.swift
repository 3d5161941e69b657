import CheckListener
import NIOPosix
import TestChecks
import TestRandom
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Answer totals")
struct AnswerTotalsTests {
    @Test("Checks are totalled by what they were answered and by rule, once, when their counts are taken")
    func totals() throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let counting = CheckCounting(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, maximumKinds: 1)
        let recorder = try #require(counting.recorders[loop])
        let policy = try CountedPolicy.policy()
        // Kinds beyond the bound, an app that is not listed and a rule of one are among them.
        let clients: [[String: String]] = [
            ["version": "1.0"], ["version": "1.0", "os": "17"], ["version": "1.1"], ["version": "2"],
            ["version": "3.0"], ["bundle": "unknown"], ["bundle": "unlisted"],
        ]
        for client in clients { try recorder.answer(policy, CountedPolicy.client(client)) }
        #expect(counting.answers.lockout == 0)
        for _ in 0..<2 {
            _ = counting.drain(at: CountedPolicy.noon)
            let answers = counting.answers
            #expect(answers.nothing == 3 && answers.message == 2 && answers.lockout == 2)
            #expect(answers.messagesByRule.rules == ["old": 2, "update": 3, "unlisted": 1])
            #expect(answers.lockoutsByRule.rules == ["old": 2])
            #expect(answers.messagesByRule.other == 0 && answers.lockoutsByRule.other == 0)
        }
        try recorder.answer(policy, CountedPolicy.client(["version": "1.0"]))
        _ = counting.drain(at: CountedPolicy.hours(1))
        #expect(counting.answers.lockout == 3)
        #expect(counting.answers.lockoutsByRule.rules == ["old": 3])
    }

    /// Rules that fill all places, each with this number.
    private func full(_ number: Int, hour: Int64 = 0) -> RuleTotals {
        var totals = RuleTotals()
        totals.add(Dictionary(uniqueKeysWithValues: (0..<RuleTotals.places).map { ("rule-\($0)", number) }), hour: hour)
        return totals
    }

    @Test("The rules with the most have the places, whatever order they come in")
    func choosesTheMost() {
        var totals = RuleTotals()
        totals.add(Dictionary(uniqueKeysWithValues: (1...150).map { ("rule-\($0)", $0) }), hour: 0)
        #expect(Set(totals.rules.values) == Set(51...150))
        #expect(totals.other == (1...50).reduce(0, +))
    }

    @Test("A rule without a place takes one when it has more than twice as much as the rule with the least")
    func replacesTheLeast() {
        var totals = full(10)
        totals.add(["rule-7": 1], hour: 0)
        for _ in 0..<2 {
            totals.add(["new": 10], hour: 0)
            #expect(totals.rules["new"] == nil)
        }
        #expect(totals.other == 20)
        totals.add(["new": 1, "rule-3": 5, "absent": 0], hour: 0)
        #expect(totals.rules["new"] == 1, "what it counted without a place stays with the others")
        #expect(totals.other == 20)
        #expect(totals.rules.count == RuleTotals.places)
        #expect(totals.rules["rule-0"] == nil, "the first by name among those with the least")
        #expect(totals.rules["rule-3"] == 15)
    }

    @Test("A rule that is gone keeps its place until another needs it, from the second hour on at once")
    func keepsGoneRules() {
        var totals = full(1_000)
        totals.add(["rule-1": 1], hour: 1)
        totals.add(["new": 2_000], hour: 1)
        #expect(totals.rules["rule-0"] == 1_000, "they count in the hour after")
        totals.add(["new": 1], hour: 2)
        #expect(totals.rules["new"] == 1)
        #expect(totals.rules["rule-1"] == 1_001, "it counted in the hour before")
        #expect(totals.rules.count == RuleTotals.places)
        #expect(totals.rules["rule-0"] == nil)
    }

    @Test("A total never falls while its rule has a place, and nothing is counted twice")
    func neverFalls() {
        for seed in 0..<UInt64(Trials.count(100)) {
            var random = SeededGenerator(seed: seed)
            var totals = RuleTotals()
            var added = 0
            var shown = 0
            var hour: Int64 = 0
            for _ in 0..<60 {
                if random.chance(10) { hour += Int64(random.next() % 3) }
                let before = totals
                var numbers: [String: Int] = [:]
                for _ in 0..<random.next() % 200 { numbers["rule-\(random.next() % 250)"] = Int(random.next() % 50) }
                totals.add(numbers, hour: hour)
                let change = totals.other - before.other
                #expect(change >= 0, "seed \(seed)")
                for (rule, total) in totals.rules {
                    guard let earlier = before.rules[rule] else { continue }
                    #expect(total - earlier == numbers[rule, default: 0], "seed \(seed)")
                }
                #expect(totals.rules.count <= RuleTotals.places)
                added += numbers.values.reduce(0, +)
                shown += change
                for (rule, total) in totals.rules { shown += total - before.rules[rule, default: 0] }
                #expect(shown <= added, "seed \(seed)")
            }
        }
    }
}
