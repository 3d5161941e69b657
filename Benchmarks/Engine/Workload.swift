import UpdatePolicy

/// A policy to measure: a number of rules over a number of apps.
struct Workload {
    /// What the rules are like.
    enum Kind: String {
        /// Ranges, targets, regions and attributes, as teams have them.
        case mixed
        /// Wide ranges that all hold the client's version, each with an attribute that it does not have.
        case overlapping
    }

    let rules: Int
    let apps: Int
    let kind: Kind

    /// The policies in the order they are measured; the first is what the others are compared with.
    static let all = [
        Workload(rules: 10, apps: 1, kind: .mixed),
        Workload(rules: 1_000, apps: 1, kind: .mixed),
        Workload(rules: 10_000, apps: 1, kind: .mixed),
        Workload(rules: 100_000, apps: 1, kind: .mixed),
        Workload(rules: 10_000, apps: 1, kind: .overlapping),
        Workload(rules: 1_000, apps: 50, kind: .mixed),
        Workload(rules: 100_000, apps: 1_000, kind: .mixed),
    ]

    /// What the policy is, for the report.
    var name: String { "\(rules) \(kind.rawValue) rules, \(apps) app\(apps == 1 ? "" : "s")" }

    /// The policy. In each app the first rule matches the client of the benchmark.
    func policy() -> Policy {
        var policy = Policy(revision: 1, token: "benchmark")
        for number in 0..<apps {
            let bundle = number == 0 ? "com.example.doto" : "com.example.app\(number)"
            policy.apps.append(
                App(bundle: bundle) {
                    $0.storeLinks = [StoreLink(platform: "ios", link: "https://example.com/\(number)")]
                }
            )
            policy.releases.append(
                Release(id: Int64(number), bundle: bundle, platform: "ios", version: "1.2") {
                    $0.liveAt = Timestamp(secondsSince1970: 0)
                }
            )
        }
        policy.rules = (0..<rules).map { rule(number: $0 / apps, of: policy.apps[$0 % apps].bundle, index: $0) }
        return policy
    }

    private func rule(number: Int, of bundle: String, index: Int) -> Rule {
        var rule = Rule(
            key: "rule-\(index)", title: "Please update",
            text: "A new version of the app is out, and yours has fault number \(index)."
        ) {
            $0.bundle = bundle
        }
        if number == 0 {
            rule.versions = "<1.2"
            rule.link = "store"
            return rule
        }
        if kind == .overlapping {
            rule.versions = ">=1.0.\(number) <9.\(number)"
            rule.attributes = [AttributeCondition(name: "channel", values: ["channel-\(number)"])]
            return rule
        }
        switch number % 5 {
        case 0:
            rule.versions = "<0.\(number)"
            rule.platforms = ["ios"]
        case 1:
            rule.versions = ">=2.\(number) <2.\(number).5"
        case 2:
            rule.versions = ">=0.5"
            rule.target = "0.\(number)"
        case 3:
            rule.attributes = [AttributeCondition(name: "channel", values: ["beta-\(number)"])]
        default:
            rule.versions = "<1.1"
            rule.platforms = ["android"]
            rule.regions = [["JP", "DE", "FR", "GB", "US"][number % 4]]
        }
        return rule
    }
}
