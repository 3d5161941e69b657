import PolicyStore
import Postgres
import TestChecks
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Check counting")
struct CheckCountingTests {
    private static let noDatabase = { @Sendable in PostgresConfiguration(connectionString: "") }

    @Test("Checks are totalled by what they were answered and by rule, once, when their counts are taken")
    func totals() throws {
        let server = try CountingServer(CountedPolicy.policy(), maximumKinds: 1, database: Self.noDatabase)
        let counting = server.counting
        // Kinds beyond the bound, an app that is not listed and a rule of one are among them.
        let clients: [[String: String]] = [
            ["version": "1.0"], ["version": "1.0", "os": "17"], ["version": "1.1"], ["version": "2"],
            ["version": "3.0"], ["bundle": "unknown"], ["bundle": "unlisted"],
        ]
        for client in clients { try server.answer(client) }
        #expect(counting.answers.lockout == 0)
        for _ in 0..<2 {
            _ = counting.drain(at: CountedPolicy.noon)
            let answers = counting.answers
            #expect(answers.nothing == 3 && answers.message == 2 && answers.lockout == 2)
            #expect(answers.messagesByRule.rules == ["old": 2, "update": 3, "unlisted": 1])
            #expect(answers.lockoutsByRule.rules == ["old": 2])
            #expect(answers.messagesByRule.other == 0 && answers.lockoutsByRule.other == 0)
        }
        try server.answer(["version": "1.0"])
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

    @Test("At most 1,000 counts of lockouts are written at a time: all with a fuse, then those that lock out most")
    func boundsLockouts() throws {
        let rules = (0..<700).map { number in
            Rule(key: "r\(number)", title: "t", text: "x") {
                $0.versions = number == 650 ? "<9" : "<1"
                ($0.lockout, $0.lockoutWithoutUpdate) = (true, true)
                $0.fuse = number % 100 == 0 ? Percentage(hundredths: 500) : nil
            }
        }
        let policy = Policy(
            revision: 7, token: "t", apps: [App(bundle: "a"), App(bundle: "b")], releases: [], rules: rules
        )
        let server = try CountingServer(CompiledPolicy(policy), database: Self.noDatabase)
        for bundle in ["a", "b", "a"] { try server.answer(["bundle": bundle, "version": "5"]) }
        let counts = server.counting.drain(at: CountedPolicy.noon).lockouts
        #expect(counts.count == CheckCounting.mostLockoutCounts)
        #expect(counts.count { ["r0", "r100", "r200", "r300", "r400", "r500", "r600"].contains($0.rule) } == 14)
        let most = counts.filter { $0.rule == "r650" }.map { [$0.checks, $0.lockouts] }
        #expect(most.sorted { $0[0] < $1[0] } == [[1, 1], [2, 2]])
        #expect(counts.allSatisfy { $0.revision == 7 && $0.lockouts <= $0.checks })
    }
}
