import CheckListener
import NIOPosix
import TestChecks
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

    @Test("The first rules have the places, of those that come together the ones with the most; a total never falls")
    func places() {
        var totals = RuleTotals()
        totals.add(Dictionary(uniqueKeysWithValues: (1...150).map { ("rule-\($0)", $0) }))
        #expect(Set(totals.rules.values) == Set(51...150))
        #expect(totals.other == (1...50).reduce(0, +))
        totals.add(["rule-150": 1, "rule-1": 1_000, "new": 0])
        #expect(totals.rules.count == RuleTotals.places && totals.rules["rule-150"] == 151)
        #expect(totals.other == (1...50).reduce(0, +) + 1_000)
    }
}
