import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@Suite("Impact properties")
struct PolicyImpactPropertyTests {
    /// Two policies that differ by a few edits.
    private struct Edit {
        let before: CompiledPolicy
        let after: CompiledPolicy

        init(before: Policy, after: Policy) throws {
            self.before = try CompiledPolicy(before)
            self.after = try CompiledPolicy(after)
        }

        init(_ generator: inout PolicyGenerator, rules: Int) throws {
            let before = Self.withWiderRules(generator.policy(rules: rules), &generator)
            var after = before
            for _ in 0..<Int.random(in: 1...3, using: &generator.random) {
                switch Int.random(in: 0..<8, using: &generator.random) {
                case 0: after.rules.append(generator.rule("r\(rules + after.rules.count)"))
                case 1: Self.changeRule(&after) { $0.enabled.toggle() }
                case 2: Self.changeRule(&after) { $0.lockout.toggle() }
                case 3: Self.changeRule(&after) { $0.final.toggle() }
                case 4: Self.changeRule(&after) { $0.position += 1 }
                case 5: after.apps[0].paused.toggle()
                case 6:
                    if let place = after.releases.indices.randomElement(using: &generator.random) {
                        after.releases[place].staged.toggle()
                        after.releases[place].liveAt = generator.time()
                    }
                default:
                    if let place = after.rules.indices.randomElement(using: &generator.random) {
                        let key = after.rules[place].key
                        after.rules[place] = generator.rule("r0")
                        after.rules[place].key = key
                    }
                }
            }
            try self.init(before: before, after: after)
        }

        /// The policy with fewer conditions, so that most clients meet some rule.
        private static func withWiderRules(_ policy: Policy, _ generator: inout PolicyGenerator) -> Policy {
            var policy = policy
            for place in policy.rules.indices where generator.random.chance(70) {
                policy.rules[place].versions = nil
                policy.rules[place].os = nil
                policy.rules[place].platforms = nil
                policy.rules[place].regions = nil
                policy.rules[place].target = nil
                policy.rules[place].lockoutWithoutUpdate = generator.random.chance(60)
                policy.rules[place].final = generator.random.chance(20)
            }
            return policy
        }

        private static func changeRule(_ policy: inout Policy, _ change: (inout Rule) -> Void) {
            change(&policy.rules[policy.rules.count / 2])
        }
    }

    /// A client without what is not counted, and some that are like it in all that is counted.
    private func kind(_ generator: inout PolicyGenerator, members: Int) throws -> (Client, [Client]) {
        let model = try generator.client()
        let counted: [(String, String?)] = [
            ("bundle", model.bundle?.string), ("version", model.versionText?.string),
            ("build", model.buildText?.string), ("platform", model.platformText?.string),
            ("region", model.regionText?.string), ("os", model.osText?.string),
        ]
        let kind = try TestPolicy.client(of: counted.compactMap { name, value in value.map { (name, $0) } })
        let clients = try (0..<members).map { _ in
            var client = kind
            let other = try generator.client()
            let language = ["de_AT", "zh-Hant-TW", "zh", "en"].randomElement(using: &generator.random) ?? "de"
            try client.set("language", to: .text(UTF8Text(language)))
            for (name, value) in other.attributes { try client.set(name, to: .text(value)) }
            let install = "i\(UInt32.random(in: 0...UInt32.max, using: &generator.random))"
            try client.set("install", to: .text(UTF8Text(install)))
            return client
        }
        return (kind, clients)
    }

    /// What clients get, in parts of one.
    private func plain(_ edit: Edit, _ clients: [Client], at time: Timestamp) -> (
        messages: Double, lockouts: Double, new: Double
    ) {
        var counts = (messages: 0, lockouts: 0, new: 0)
        for client in clients {
            let wasLockedOut = edit.before.messages(for: client, at: time).contains { $0.lockout }
            let sent = edit.after.messages(for: client, at: time)
            let isLockedOut = sent.contains { $0.lockout }
            counts.messages += sent.isEmpty ? 0 : 1
            counts.lockouts += isLockedOut ? 1 : 0
            counts.new += isLockedOut && !wasLockedOut ? 1 : 0
        }
        let whole = Double(clients.count)
        return (Double(counts.messages) / whole, Double(counts.lockouts) / whole, Double(counts.new) / whole)
    }

    @Test(
        "The impact of an edit is at least what clients get, and exactly that where all that decides is counted",
        arguments: [3, 12]
    )
    func isAnUpperBound(rules: Int) throws {
        let random = SeededGenerator()
        var generator = PolicyGenerator(.crowded, random)
        var exact = 0
        var newLockouts = 0
        // Some more where chance has left out what matters.
        for round in 0..<3_000 where round < Trials.count(300) || exact == 0 || newLockouts == 0 {
            let edit = try Edit(&generator, rules: rules)
            let (kind, clients) = try kind(&generator, members: 8)
            let impact = PolicyImpact(
                from: edit.before, to: edit.after, clients: [WeightedClient(kind, checks: 1)],
                at: TestPolicy.noon
            )
            #expect(impact.now.newLockouts <= impact.now.lockoutsAfter + 1e-9, "seed \(random.seed)")
            #expect(impact.now.lockoutsAfter <= impact.now.messagesAfter + 1e-9, "seed \(random.seed)")
            #expect(impact.now.newLockouts <= impact.newLockouts, "seed \(random.seed)")
            if impact.now.newLockouts > 0 { newLockouts += 1 }
            if impact.uncounted.contains(.rollout) { continue }
            let plainly = plain(edit, clients, at: TestPolicy.noon)
            if impact.leftOut.isEmpty {
                #expect(plainly.messages <= impact.now.messagesAfter + 1e-9, "seed \(random.seed)")
                #expect(plainly.lockouts <= impact.now.lockoutsAfter + 1e-9, "seed \(random.seed)")
            }
            #expect(plainly.new <= impact.now.newLockouts + 1e-9, "seed \(random.seed)")
            if impact.uncounted.isEmpty, impact.leftOut.isEmpty {
                #expect(abs(plainly.messages - impact.now.messagesAfter) < 1e-9, "seed \(random.seed)")
                #expect(abs(plainly.lockouts - impact.now.lockoutsAfter) < 1e-9, "seed \(random.seed)")
                #expect(abs(plainly.new - impact.now.newLockouts) < 1e-9, "seed \(random.seed)")
                exact += 1
            }
            for hours in 0...3 {
                let later = plain(edit, clients, at: TestPolicy.hours(Int64(hours), microseconds: 1))
                #expect(later.new <= impact.newLockouts + 1e-9, "seed \(random.seed) after \(hours) h")
            }
        }
        #expect(exact > 0)
        #expect(newLockouts > 0)
    }

    @Test(
        "The impact of an edit takes rollouts as the share of installs that the engine gives them, kept from edit to edit"
    )
    func rollouts() throws {
        let random = SeededGenerator()
        var generator = PolicyGenerator(.crowded, random)
        func rules(_ keys: [String], _ generator: inout PolicyGenerator) -> [Rule] {
            keys.map { key in
                let hundredths = generator.random.pick([0, 1_000, 2_500, 5_000, 8_000, 10_000])
                return TestPolicy.rule(key) {
                    $0.position = Int.random(in: 0...2, using: &generator.random)
                    $0.rollout = Percentage(hundredths: hundredths) ?? .all
                    $0.lockout = generator.random.chance(60)
                    $0.lockoutWithoutUpdate = true
                    $0.final = generator.random.chance(40)
                }
            }
        }
        let installs = 1_000
        let clients = try (0..<installs).map { number in
            try TestPolicy.client(["install": "\(random.seed)-\(number)"])
        }
        for _ in 0..<20 {
            let app = App(bundle: TestPolicy.bundle)
            let before = Policy(revision: 1, token: "a", apps: [app], rules: rules(["x", "y", "z"], &generator))
            let after = Policy(revision: 2, token: "b", apps: [app], rules: rules(["w", "x", "y"], &generator))
            let edit = try Edit(before: before, after: after)
            let impact = PolicyImpact(
                from: edit.before, to: edit.after,
                clients: [WeightedClient(try TestPolicy.client(), checks: 1)], at: TestPolicy.noon
            )
            let plainly = plain(edit, clients, at: TestPolicy.noon)
            // Five standard deviations of a share of 1,000 installs.
            #expect(abs(plainly.messages - impact.now.messagesAfter) < 0.08, "seed \(random.seed)")
            #expect(abs(plainly.lockouts - impact.now.lockoutsAfter) < 0.08, "seed \(random.seed)")
            #expect(abs(plainly.new - impact.now.newLockouts) < 0.08, "seed \(random.seed)")
        }
    }

    @Test(
        "The impact of an edit names every app in which somebody is newly locked out, without counts",
        arguments: [3, 12]
    )
    func newLockoutsAreSound(rules: Int) throws {
        let random = SeededGenerator()
        var generator = PolicyGenerator(.crowded, random)
        var found = 0
        var edits = 0
        // Few edits lock somebody out, so now and then none does.
        while edits < Trials.count(300) || found == 0 && edits < 10_000 {
            edits += 1
            let edit = try Edit(&generator, rules: rules)
            let apps = AppsWithNewLockouts(from: edit.before.policy, to: edit.after.policy, at: TestPolicy.noon)
            let (_, clients) = try kind(&generator, members: 6)
            for hours in 0...3 where plain(edit, clients, at: TestPolicy.hours(Int64(hours))).new > 0 {
                found += 1
                let bundle = clients[0].bundle?.string.lowercased() ?? ""
                #expect(apps.everyApp || apps.bundles.contains(bundle), "seed \(random.seed)")
            }
        }
        #expect(found > 0)
    }

    @Test(
        "The impact of an edit of a rule is what the engine sends under the policy in which it is enabled for all",
        arguments: [4, 12]
    )
    func ruleImpact(rules: Int) throws {
        let random = SeededGenerator()
        var generator = PolicyGenerator(.crowded, random)
        var reached = 0
        for round in 0..<3_000 where round < Trials.count(300) || reached == 0 {
            let policy = generator.policy(rules: rules)
            let rule = generator.random.pick(policy.rules)
            let (kind, clients) = try kind(&generator, members: 8)
            let impact = try RuleImpact(
                of: rule, in: policy, clients: [WeightedClient(kind, checks: 8)], at: TestPolicy.noon
            )
            var unbounded = policy
            let place = try #require(unbounded.rules.firstIndex { $0.key == rule.key })
            unbounded.rules[place].enabled = true
            unbounded.rules[place].rollout = .all
            unbounded.rules[place].steps = []
            let compiled = try CompiledPolicy(unbounded)
            let sent = clients.flatMap { compiled.messages(for: $0, at: TestPolicy.noon) }.filter { $0.id == rule.key }
            let most = try #require(impact.total.last)
            if !impact.uncounted.contains(.rollout) {
                #expect(Double(sent.count) <= most.messages + 1e-9, "seed \(random.seed)")
                #expect(Double(sent.count { $0.lockout }) <= most.lockouts + 1e-9, "seed \(random.seed)")
            }
            if !sent.isEmpty { reached += 1 }
            if !rule.enabled { #expect(impact.total[0].messages == 0) }
        }
        #expect(reached > 0)
    }
}
