import UpdatePolicy

/// Apps at the bounds of what the database admits, each costly in a way of its own, for the requests of `hostile.py`.
enum CostlyPolicy {
    /// Since when all releases can be had.
    private static let live = Timestamp(secondsSince1970: 1_700_000_000)
    private static let end = Timestamp(secondsSince1970: 4_000_000_000)

    /// Adds the apps, and a lockout for every app on a platform that nothing else is for.
    static func add(to policy: inout Policy) {
        addGates(to: &policy)
        addTexts(to: &policy)
        addLists(to: &policy)
        addOthers(to: &policy)
        policy.rules.append(
            rule(0, "every", nil) { rule in
                (rule.bundle, rule.platforms, rule.lockout, rule.lockoutWithoutUpdate) = (nil, ["fuchsia"], true, true)
            }
        )
    }

    private static func rule(_ number: Int, _ app: String, _ bundle: String?, _ change: (inout Rule) -> Void) -> Rule {
        var rule = Rule(key: "\(app)-\(number)", title: "Update", text: "Update.") {
            $0.bundle = bundle
            $0.position = number
        }
        change(&rule)
        return rule
    }

    private static func addApp(
        _ name: String,
        rules: Int,
        to policy: inout Policy,
        _ change: (inout Rule, Int) -> Void
    ) {
        let bundle = "com.example.\(name)"
        policy.apps.append(App(bundle: bundle))
        policy.rules += (0..<rules).map { number in rule(number, name, bundle) { change(&$0, number) } }
    }

    private static func addReleases(_ name: String, _ count: Int, to policy: inout Policy) {
        for number in 0..<count {
            var release = Release(
                id: Int64(policy.releases.count + 1), bundle: "com.example.\(name)", platform: "ios",
                version: number == 0 ? "99" : "100.\(number)"
            ) {
                $0.minOS = number == 0 ? nil : "10.\(number)"
            }
            release.liveAt = live
            policy.releases.append(release)
        }
    }

    /// Lockouts of 1,000 rules with ways out among 990 releases, each but the last for another system.
    private static func addGates(to policy: inout Policy) {
        addApp("gates", rules: 1_000, to: &policy) { rule, _ in (rule.lockout, rule.versions) = (true, "<90") }
        // Each would also lock out the client with the least release that some system has.
        addApp("open-gates", rules: 1_000, to: &policy) { rule, _ in
            (rule.lockout, rule.versions) = (true, "<90 || 100.1")
        }
        addApp("build-gates", rules: 1_000, to: &policy) { rule, _ in
            (rule.lockout, rule.versions, rule.builds) = (true, "<90 || 100.1", ">=1")
        }
        addApp("soaked-gates", rules: 1_000, to: &policy) { rule, number in
            (rule.lockout, rule.versions) = (true, "<90 || 100.1")
            rule.soak = DayTimeInterval(microseconds: Int64(number) * 1_000_000)
        }
        addApp("target-gates", rules: 1_000, to: &policy) { rule, number in
            (rule.lockout, rule.target) = (true, "100.\(number)")
            rule.soak = DayTimeInterval(microseconds: Int64(number) * 1_000_000)
        }
        addApp("final-gates", rules: 1_000, to: &policy) { rule, number in
            if number < 999 {
                (rule.final, rule.regions, rule.versions) = (true, ["JP"], "<9.\(number)")
            } else {
                (rule.lockout, rule.versions) = (true, "<90")
            }
        }
        addApp("some-gates", rules: 100, to: &policy) { rule, _ in
            (rule.lockout, rule.versions) = (true, "<90 || 100.1")
        }
        for name in ["gates", "open-gates", "build-gates", "soaked-gates", "target-gates", "final-gates"] {
            addReleases(name, 990, to: &policy)
        }
        addReleases("some-gates", 300, to: &policy)
    }

    /// 300 messages with 60 translations each, one of them into a language of 20 subtags and all that it begins with.
    private static func addTexts(to policy: inout Policy) {
        let subtags = (0..<20).map { "a\(Character(UnicodeScalar(97 + UInt8($0))))" }
        addApp("texts", rules: 300, to: &policy) { rule, number in
            let languages =
                number == 299
                ? (1...20).map { subtags[..<$0].joined(separator: "-") } : (0..<60).map { "xx-\(number)-\($0)" }
            rule.texts = languages.map { RuleText(language: $0, title: "Update", text: "Update.") }
        }
    }

    /// Rules that are found by the region, and then ask for something in a long list that the client is not in.
    private static func addLists(to policy: inout Policy) {
        let regions = Region.all.map(\.code)
        func addApp(_ name: String, rules: Int, _ change: (inout Rule, Int) -> Void) {
            Self.addApp(name, rules: rules, to: &policy) { rule, number in
                rule.regions = number == 0 ? regions : ["JP"]
                change(&rule, number)
            }
        }
        let versions = (0..<1_600).map { "\(2 * $0 + 1)" }.joined(separator: "||")
        addApp("version-lists", rules: 250) { rule, _ in rule.versions = versions }
        let languages = (0..<500).map { "xx-\($0)" }
        addApp("language-lists", rules: 1_000) { rule, _ in rule.languages = languages }
        let values = (0..<5_000).map { "value\($0)" }
        addApp("value-lists", rules: 250) { rule, _ in
            rule.attributes = [AttributeCondition(name: "channel", values: values)]
        }
        addApp("attribute-lists", rules: 1_000) { rule, _ in
            rule.attributes = (0..<64).map { number in
                AttributeCondition(name: "a\(number)", values: number == 63 ? ["y"] : ["x"])
            }
        }
        addApp("attribute-ranges", rules: 1_000) { rule, _ in
            rule.attributes = (0..<64).map {
                AttributeCondition(name: "a\($0)", .range($0 == 63 ? ">1.0.1" : ">1 <1.1"))
            }
        }
        addApp("exceptions", rules: 1_000) { rule, _ in
            rule.attributes = (0..<16).map { AttributeCondition(name: "a\($0)", .not($0 == 15 ? ["x", "y"] : ["x"])) }
        }
        addApp("region-lists", rules: 1_000) { rule, _ in
            rule.platforms = ["ios"]
            rule.versions = "<2"
            rule.regions = regions.filter { $0 != "ZW" } + ["ZW"]
            rule.endsAt = live
        }
        let steps = (0..<200).map { number in
            RolloutStep(at: Timestamp(secondsSince1970: 4_000_000_000 + Int64(number)), rollout: .all)
        }
        addApp("step-lists", rules: 1_000) { rule, _ in (rule.rollout, rule.steps) = (.zero, steps) }
    }

    private static func addOthers(to policy: inout Policy) {
        addApp("rollouts", rules: 100, to: &policy) { rule, _ in
            rule.rollout = Percentage(hundredths: 1) ?? .zero
        }
        addApp("conditions", rules: 1_000, to: &policy) { rule, number in
            (rule.versions, rule.builds, rule.os, rule.platforms) = ("<9.\(number)", "<99.\(number)", "<99", ["ios"])
            rule.startsAt = end
        }
        addApp("targets", rules: 1_000, to: &policy) { rule, number in
            (rule.target, rule.soak) = ("98", DayTimeInterval(microseconds: Int64(number) * 1_000_000))
        }
        addApp("late-targets", rules: 1_000, to: &policy) { rule, number in
            (rule.target, rule.soak) = ("200", DayTimeInterval(microseconds: Int64(number) * 1_000_000))
        }
        addReleases("targets", 1_000, to: &policy)
        addReleases("late-targets", 1_000, to: &policy)
        addApp("messages", rules: 1_000, to: &policy) { _, _ in }
    }
}
