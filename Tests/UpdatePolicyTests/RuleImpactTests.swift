import TestPolicies
import Testing
import UpdatePolicy

@Suite("Rule impact")
struct RuleImpactTests {
    private func impact(_ rule: Rule, _ others: [Rule] = [], releases: [Release]? = nil) throws -> RuleImpact {
        let clients = try [("1.0", "ios", 60), ("2.0", "ios", 30), ("1.0", "android", 10)].map {
            WeightedClient(try TestPolicy.client(["version": $0, "platform": $1]), checks: Int64($2))
        }
        let policy = Policy(
            revision: 1, token: "t", apps: [App(bundle: TestPolicy.bundle)],
            releases: releases ?? [TestPolicy.release("2.0")], rules: [rule] + others
        )
        return try RuleImpact(of: rule, in: policy, clients: clients, at: TestPolicy.noon)
    }

    private let rule = TestPolicy.rule("k") {
        $0.versions = "<2"
        $0.lockout = true
    }

    @Test("The impact of a rule has a stage for now, for being enabled, for each planned step and for all installs")
    func stages() throws {
        var rule = rule
        rule.enabled = false
        rule.rollout = .zero
        rule.steps = [
            RolloutStep(at: TestPolicy.hours(-1), rollout: Percentage("10")!),
            RolloutStep(at: TestPolicy.hours(1), rollout: Percentage("50")!),
        ]
        let impact = try impact(rule)
        #expect(impact.stages.map(\.kind) == [.now, .enabled, .step, .everybody])
        #expect(impact.stages.map { $0.rollout.description } == ["0", "10", "50", "100"])
        #expect(impact.total.map { ($0.messages * 100).rounded() / 100 } == [0, 7, 35, 70])
        #expect(impact.total.map { ($0.lockouts * 100).rounded() / 100 } == [0, 6, 30, 60])
        #expect(impact.total.map { ($0.withoutWayOut * 100).rounded() / 100 } == [0, 1, 5, 10])
        #expect(impact.checks == 100)
        #expect(impact.uncounted == [.rollout])
        rule.heldAt = TestPolicy.noon
        #expect(try self.impact(rule).stages.map(\.kind) == [.now, .enabled, .everybody])
        rule.heldAt = TestPolicy.hours(1)
        #expect(try self.impact(rule).stages == impact.stages)
    }

    @Test("The impact of a rule is nothing behind a final rule")
    func behindAFinalRule() throws {
        let hider = TestPolicy.rule("a") { $0.final = true }
        #expect(try impact(rule, [hider]).total.last?.messages == 0)
        #expect(try impact(rule).total.last?.messages == 70)
    }

    @Test("The impact of a rule at 100 % counts releases that are planned")
    func plannedRelease() throws {
        let release = TestPolicy.release("2.0") { $0.liveAt = TestPolicy.hours(5) }
        let impact = try impact(rule, releases: [release])
        #expect(impact.total.first?.lockouts == 0)
        #expect(impact.total.last?.lockouts == 60)
    }
}
