import UpdatePolicy

/// The policy of `rules.sql`, of any size, and two apps more for answers of other kinds.
enum BenchmarkPolicy {
    /// How many rules an app has.
    private static let rulesPerApp = 20

    /// A policy of as many rules as asked for, 20 an app; of those of `com.example.doto` one matches the question.
    static func policy(rules: Int) -> Policy {
        var policy = Policy(revision: 1, token: "benchmark")
        for app in 1...max(1, rules / rulesPerApp) {
            let bundle = app == 1 ? "com.example.doto" : "com.example.app\(app)"
            policy.apps.append(App(bundle: bundle, name: app == 1 ? "Doto" : "App \(app)"))
            for number in 1...rulesPerApp where number <= rules {
                policy.rules.append(
                    app == 1 && number == min(rules, rulesPerApp) ? update(bundle) : rule(number, app, bundle)
                )
            }
        }
        addMessages(to: &policy)
        addRollout(to: &policy)
        addLanguages(to: &policy)
        return policy
    }

    private static func update(_ bundle: String) -> Rule {
        var rule = Rule(
            key: "doto-update", title: "Please update",
            text: "{app} 1.2 is in the App Store. It keeps your lists in step when the network is slow."
        ) {
            $0.bundle = bundle
            $0.position = 20
            $0.versions = "<1.2"
            $0.link = "https://apps.example.com/doto"
        }
        rule.platforms = ["ios"]
        return rule
    }

    private static func rule(_ number: Int, _ app: Int, _ bundle: String) -> Rule {
        var rule = Rule(
            key: "app\(app)-rule\(number)", title: "Notice \(number)",
            text: "What users of this app should know, number \(number)."
        ) {
            $0.bundle = bundle
            $0.position = number
            $0.link = "https://apps.example.com/\(app)/\(number)"
        }
        switch number % 4 {
        case 0: rule.versions = ">=\(number).\(app) <\(number).\(app).5"
        case 1: rule.versions = "\(number + 1).\(app).x"
        case 2: rule.versions = "<0.\(number) || 2.\(number) - 2.\(number + 3)"
        default: rule.regions = ["JP", "DE"]
        }
        if number % 5 == 3 { rule.builds = "<40" }
        if number % 5 == 4 { rule.os = "<15" }
        rule.platforms = [["android"], ["ios"], ["ios", "macos"]][number % 3]
        if number % 7 == 3 { rule.languages = ["de", "ja"] }
        if number % 6 == 5 { rule.attributes = [AttributeCondition(name: "channel", values: ["beta"])] }
        if number % 8 == 2, let quarter = Percentage(hundredths: 2_500) { rule.rollout = quarter }
        return rule
    }

    /// `com.example.five`: five messages, each with a translation.
    private static func addMessages(to policy: inout Policy) {
        policy.apps.append(App(bundle: "com.example.five", name: "Five"))
        for number in 1...5 {
            var rule = Rule(
                key: "five-\(number)", title: "Notice \(number)",
                text: "What users of this app should know, number \(number)."
            ) {
                $0.bundle = "com.example.five"
                $0.position = number
                $0.link = "https://apps.example.com/five/\(number)"
            }
            rule.texts = [RuleText(language: "de", title: "Hinweis \(number)", text: "Was man wissen sollte.")]
            policy.rules.append(rule)
        }
    }

    /// `com.example.staged`: a message for half of the installations.
    private static func addRollout(to policy: inout Policy) {
        policy.apps.append(App(bundle: "com.example.staged", name: "Staged"))
        var rule = Rule(key: "staged", title: "Please update", text: "{app} 1.2 is there.") {
            $0.bundle = "com.example.staged"
            $0.versions = "<1.2"
            $0.link = "https://apps.example.com/staged"
        }
        if let half = Percentage(hundredths: 5_000) { rule.rollout = half }
        policy.rules.append(rule)
    }

    /// `com.example.languages`: rules that ask for the language of the client.
    private static func addLanguages(to policy: inout Policy) {
        policy.apps.append(App(bundle: "com.example.languages"))
        for number in 1...12 {
            var rule = Rule(key: "language-\(number)", title: "Notice", text: "What users of this app should know.") {
                $0.bundle = "com.example.languages"
            }
            rule.languages = ["xx"]
            policy.rules.append(rule)
        }
    }
}
