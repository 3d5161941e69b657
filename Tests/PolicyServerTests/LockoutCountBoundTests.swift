import CheckListener
import NIOPosix
import PolicyStore
import TestChecks
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Bound on counts of lockouts")
struct LockoutCountBoundTests {
    @Test("At most 1,000 counts of lockouts are written at a time: all with a fuse, then those that lock out most")
    func isBounded() throws {
        let rules = (0..<700).map { number in
            var rule = Rule(key: "r\(number)", title: "t", text: "x") {
                $0.versions = number == 650 ? "<9" : "<1"
            }
            (rule.lockout, rule.lockoutWithoutUpdate) = (true, true)
            rule.fuse = number % 100 == 0 ? Percentage(hundredths: 500) : nil
            return rule
        }
        let policy = try CompiledPolicy(
            Policy(revision: 7, token: "t", apps: [App(bundle: "a"), App(bundle: "b")], releases: [], rules: rules)
        )
        let group = MultiThreadedEventLoopGroup.singleton
        let counting = CheckCounting(eventLoopGroup: group, maximumKinds: 100)
        let recorder = try #require(counting.recorders[group.next()])
        for bundle in ["a", "b", "a"] {
            try recorder.answer(policy, CountedPolicy.client(["bundle": bundle, "version": "5"]))
        }
        let counts = counting.drain(at: CountedPolicy.noon).lockouts
        #expect(counts.count == CheckCounting.mostLockoutCounts)
        #expect(counts.count { ["r0", "r100", "r200", "r300", "r400", "r500", "r600"].contains($0.rule) } == 14)
        #expect(
            counts.filter { $0.rule == "r650" }.map { [$0.checks, $0.lockouts] }.sorted { $0[0] < $1[0] } == [
                [1, 1], [2, 2],
            ]
        )
        #expect(counts.allSatisfy { $0.revision == 7 && $0.lockouts <= $0.checks })
    }
}
