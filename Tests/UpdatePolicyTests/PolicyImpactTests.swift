import TestPolicies
import Testing

@testable import UpdatePolicy

@Suite("Policy impact")
struct PolicyImpactTests {
    private let release = TestPolicy.release("2.0")

    private func impact(
        _ before: [Rule],
        _ after: [Rule],
        releases: [Release]? = nil,
        releasesAfter: [Release]? = nil,
        pausedBefore: Bool = false
    ) throws -> PolicyImpact {
        let releases = releases ?? [release]
        let client = try TestPolicy.client(["version": "1.0", "platform": "ios"])
        return PolicyImpact(
            from: try TestPolicy.policy(
                before, releases: releases, apps: [App(bundle: TestPolicy.bundle) { $0.paused = pausedBefore }]
            ),
            to: try TestPolicy.policy(after, releases: releasesAfter ?? releases),
            clients: [WeightedClient(client, checks: 100)],
            at: TestPolicy.noon
        )
    }

    private func lockout(_ key: String = "lock", _ change: (inout Rule) -> Void = { _ in }) -> Rule {
        TestPolicy.rule(key) {
            ($0.versions, $0.lockout) = ("<2", true)
            change(&$0)
        }
    }

    /// A lockout of nobody that becomes one of 10 % in an hour, and of 70 % in two.
    private var ramp: Rule {
        lockout("ramp") {
            $0.rollout = .zero
            $0.steps = [
                RolloutStep(at: TestPolicy.hours(1), rollout: percent(1_000)),
                RolloutStep(at: TestPolicy.hours(2), rollout: percent(7_000)),
            ]
        }
    }

    private func percent(_ hundredths: Int) -> Percentage { Percentage(hundredths: hundredths) ?? .all }

    @Test("Each column that is a condition on clients is judged as one")
    func knowsConditions() {
        // The app chooses the rules that are judged, and a soak is a part of the target.
        let columns = Set(Rule.columns.filter { $0.role == .condition }.map(\.name)).subtracting(["bundle", "soak"])
        #expect(columns.isSubset(of: Condition.allCases.map(\.rawValue)))
        #expect(Condition.uncounted == [.languages, .attributes, .rollout])
    }

    @Test("The impact of an edit counts a raised rollout as what is added, for an install keeps its bucket")
    func raisedRollout() throws {
        let impact = try impact([lockout { $0.rollout = percent(2_500) }], [lockout { $0.rollout = percent(6_000) }])
        #expect(abs(impact.now.lockoutsBefore - 25) < 1e-9)
        #expect(abs(impact.now.lockoutsAfter - 60) < 1e-9)
        #expect(abs(impact.now.newLockouts - 35) < 1e-9)
        #expect(impact.uncounted == [.rollout])
    }

    @Test("The impact of an edit does not count who was locked out by another rule")
    func lockedOutAlready() throws {
        let half = lockout("a") { $0.rollout = percent(5_000) }
        let added = try impact([half], [half, lockout("b") { $0.rollout = percent(5_000) }])
        #expect(abs(added.now.newLockouts - 25) < 1e-9)
        let replaced = try impact([lockout("a")], [lockout("b")])
        #expect(replaced.now.newLockouts == 0)
    }

    @Test("The impact of an edit sees what a final rule hid")
    func finalRule() throws {
        let hider = TestPolicy.rule("first") { ($0.position, $0.final) = (-1, true) }
        #expect(try impact([hider, lockout()], [lockout()]).now.newLockouts == 100)
        #expect(try impact([lockout()], [hider, lockout()]).now.newLockouts == 0)
        let moved = lockout { $0.position = -2 }
        #expect(try impact([hider, lockout()], [hider, moved]).now.newLockouts == 100)
        var part = hider
        part.rollout = percent(4_000)
        #expect(abs(try impact([part, lockout()], [lockout()]).now.newLockouts - 40) < 1e-9)
    }

    @Test("The impact of an edit sees what a paused app and a missing release held back")
    func pausedApp() throws {
        #expect(try impact([lockout()], [lockout()], pausedBefore: true).now.newLockouts == 100)
        var staged = release
        staged.staged = true
        let freed = try impact([lockout()], [lockout()], releases: [staged], releasesAfter: [release])
        #expect(freed.now.newLockouts == 100)
        let none = try impact([], [lockout()], releases: [staged])
        #expect(none.now.newLockouts == 0)
        #expect(none.now.withoutWayOut == 100)
    }

    @Test("The impact of an edit looks ahead to steps, starts and releases, not back")
    func looksAhead() throws {
        let planned = try impact([], [ramp])
        #expect(planned.now.newLockouts == 0)
        #expect(abs(planned.newLockouts - 70) < 1e-9)
        var held = ramp
        held.heldAt = TestPolicy.hours(1)
        #expect(abs(try impact([], [held]).newLockouts - 10) < 1e-9)
        #expect(try impact([ramp], [held]).newLockouts == 0)
        #expect(abs(try impact([held], [ramp]).newLockouts - 60) < 1e-9)
        #expect(try impact([], [lockout { $0.startsAt = TestPolicy.hours(24) }]).newLockouts == 100)
        #expect(try impact([], [lockout { $0.endsAt = TestPolicy.hours(-1) }]).newLockouts == 0)
        var coming = release
        coming.liveAt = TestPolicy.hours(48)
        let later = try impact([], [lockout()], releases: [coming])
        #expect(later.now.newLockouts == 0)
        #expect(later.newLockouts == 100)
        let longer = try impact(
            [lockout { $0.endsAt = TestPolicy.hours(1) }],
            [lockout { $0.endsAt = TestPolicy.hours(3) }]
        )
        #expect(longer.now.newLockouts == 0)
        #expect(longer.newLockouts == 100)
    }

    @Test("The impact of an edit takes what is not counted as met where that gives more, and says so")
    func uncounted() throws {
        let german = lockout { $0.languages = ["de"] }
        let added = try impact([], [german])
        #expect(added.now.newLockouts == 100)
        #expect(added.uncounted == [.languages])
        #expect(try impact([german], [german]).now.newLockouts == 0)
        let wider = lockout { $0.languages = ["de", "fr"] }
        #expect(try impact([german], [wider]).now.newLockouts == 100)
        let beta = TestPolicy.rule("first") {
            ($0.position, $0.final) = (-1, true)
            $0.attributes = [AttributeCondition(name: "channel", values: ["beta"])]
        }
        let hidden = try impact([], [beta, lockout()])
        #expect(hidden.now.newLockouts == 100)
        #expect(hidden.uncounted == [.attributes])
    }

    @Test("The impact of an edit says from when on which rule locks out whom nothing locks out now")
    func namesDates() throws {
        let planned = try impact([], [ramp])
        #expect(planned.laterLockouts.map(\.at) == [TestPolicy.hours(1), TestPolicy.hours(2)])
        #expect(planned.laterLockouts.map { $0.checks.rounded() } == [10, 70])
        #expect(planned.laterLockouts.allSatisfy { $0.rules == ["ramp"] })
        #expect(planned.largestLockout?.now == 0)
        #expect(planned.largestLockout?.later?.at == TestPolicy.hours(2))
        let message = TestPolicy.rule("news") { $0.startsAt = TestPolicy.hours(5) }
        let news = try impact([], [message])
        #expect(news.laterMessages == [ImpactStep(at: TestPolicy.hours(5), checks: 100, rules: ["news"])])
        #expect(news.laterLockouts.isEmpty)
    }

    @Test("The impact of an edit leaves out what other rules plan, and whom nobody can count for them")
    func leavesOutOthers() throws {
        let maintenance = lockout("maintenance") {
            ($0.versions, $0.lockoutWithoutUpdate) = (nil, true)
            ($0.startsAt, $0.endsAt) = (TestPolicy.hours(48), TestPolicy.hours(50))
        }
        let beta = TestPolicy.rule("beta") { $0.attributes = [AttributeCondition(name: "channel", values: ["beta"])] }
        let others = [maintenance, beta]
        let added = try impact(others, others + [lockout { $0.rollout = percent(1_000) }])
        #expect(added.now.messagesBefore == 0)
        #expect(abs(added.now.messagesAfter - 10) < 1e-9)
        #expect(abs(added.newLockouts - 10) < 1e-9)
        #expect(added.laterLockouts.isEmpty)
        #expect(added.leftOut == [.attributes])
        #expect(added.uncounted == [.rollout])
        // An app that goes on after a pause is locked out by the maintenance, then and not before.
        let resumed = try impact([maintenance], [maintenance], pausedBefore: true)
        #expect(resumed.now.newLockouts == 0)
        #expect(resumed.laterLockouts == [ImpactStep(at: TestPolicy.hours(48), checks: 100, rules: ["maintenance"])])
    }

    @Test("The impact of an edit of many rules that chance decides is found in bounded time, and never too low")
    func isBounded() throws {
        let before = (0..<40).map { number in
            lockout("r\(number)") { ($0.rollout, $0.position) = (percent(100 + number), number) }
        }
        let after = before.map { rule in
            lockout(rule.key) { ($0.rollout, $0.position) = (percent(9_000), -rule.position) }
        }
        let impact = try impact(before, after)
        #expect(impact.now.newLockouts > 60)
        #expect(impact.now.newLockouts <= 100)
    }

    @Test("The impact of an edit is told apart by app, platform and version, spellings taken together")
    func groups() throws {
        let policy = try TestPolicy.policy([lockout()], releases: [release])
        let clients = try [
            (["version": "1.0", "platform": "iOS"], 10), (["version": "v1.0.0", "platform": "ios"], 5),
            (["version": "1.5", "platform": "ios"], 1), (["platform": "ios"], 2),
        ].map { members, checks in
            WeightedClient(try TestPolicy.client(of: members.map { ($0.key, $0.value) }), checks: Int64(checks))
        }
        let impact = PolicyImpact(from: try TestPolicy.policy([]), to: policy, clients: clients, at: TestPolicy.noon)
        #expect(impact.rows.map(\.checks) == [1, 15, 2])
        #expect(impact.rows.map { $0.group.version?.text } == ["1.5", "1.0", nil])
        #expect(impact.rows.map(\.now.newLockouts) == [1, 15, 0])
        #expect(impact.checks == 18)
        #expect(abs((impact.largestLockout?.share ?? 0) - 16.0 / 18) < 1e-9)
    }

    @Test("The impact of an edit judges the share of the app where it is largest")
    func largestShare() throws {
        let other = Rule(key: "lock", title: "t", text: "x") {
            ($0.bundle, $0.lockout, $0.lockoutWithoutUpdate) = ("other", true, true)
        }
        let client = try TestPolicy.client(["bundle": "other"])
        let impact = PolicyImpact(
            from: try TestPolicy.policy([]),
            to: try TestPolicy.policy([other]),
            clients: [WeightedClient(try TestPolicy.client(), checks: 999_999), WeightedClient(client, checks: 1)],
            at: TestPolicy.noon
        )
        #expect(impact.largestLockout?.share == 1)
    }

    @Test("The impact of an edit comes with the pre-releases that have the numbers of a release")
    func preReleases() throws {
        let clients = try [("1.2.0-prod", 7), ("1.2b3", 9), ("1.3-beta", 1), ("1.4", 1), ("1.4-dev", 2)].map {
            WeightedClient(try TestPolicy.client(["version": $0]), checks: Int64($1))
        }
        let preReleases = PreReleaseMatch.matches(among: clients.map(\.counted), releases: [TestPolicy.release("v1.2")])
        #expect(preReleases.map(\.version.text) == ["1.2b3", "1.2.0-prod", "1.4-dev"])
        #expect(preReleases.map(\.release) == ["v1.2", "v1.2", "1.4"])
        #expect(preReleases.map(\.checks) == [9, 7, 2])
    }
}
