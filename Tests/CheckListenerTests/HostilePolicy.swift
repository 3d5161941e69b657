import UpdatePolicy

/// Policies that the database admits and that are as costly as can be: at its bounds, in one way each.
enum HostilePolicy: String, CaseIterable {
    /// Ranges of 10,000 bytes.
    case longRanges
    /// Rules that all fail at the last condition that is looked at.
    case lateFailures
    /// Targets with soaks beside releases that nobody can get.
    case targets
    /// Lockouts, each to be judged by the releases.
    case lockouts
    /// Lockouts whose ways out are each for another system.
    case waysOut
    /// Lists of languages and regions.
    case lists
    /// Lists that all rules share, so that none is found by what is in them.
    case sharedLists
    /// Messages in 60 languages.
    case translations
    /// Attributes, as many and as long as a rule may have.
    case attributes
    /// Messages to everybody, in many languages, as long as they may be.
    case messages

    static let bundle = "com.example.doto"

    func compiled() throws -> CompiledPolicy {
        try CompiledPolicy(
            Policy(
                revision: 7, token: "token", apps: [App(bundle: Self.bundle, name: "Doto")], releases: releases,
                rules: (0..<500).map(rule)
            )
        )
    }

    private var releases: [Release] {
        guard self == .targets || self == .lockouts || self == .waysOut else { return [] }
        return (0..<(self == .waysOut ? 990 : 4_000)).map { number in
            var release = Release(id: Int64(number + 1), bundle: Self.bundle, platform: "ios", version: "102.\(number)")
            release.liveAt = Timestamp(secondsSince1970: 1_700_000_000)
            release.minOS = self == .waysOut ? "10.\(number)" : "99"
            if self == .waysOut, number == 0 { release.minOS = nil }
            return release
        }
    }

    private func rule(_ number: Int) -> Rule {
        var rule = Rule(key: "rule-\(number)", title: "Please update", text: "There is a new version.") {
            $0.bundle = Self.bundle
        }
        switch self {
        case .longRanges: rule.versions = String(repeating: "<0.1||", count: 1_600) + ">9.\(number)"
        case .lateFailures:
            (rule.versions, rule.builds, rule.os, rule.platforms) = ("<9.\(number)", "<99.\(number)", "<99", ["ios"])
            rule.startsAt = Timestamp(secondsSince1970: 4_000_000_000)
        case .targets: (rule.target, rule.soak) = ("101", DayTimeInterval(microseconds: Int64(number) * 1_000_000))
        case .lockouts: (rule.versions, rule.lockout) = ("<9.\(number)", true)
        case .waysOut: (rule.versions, rule.lockout) = ("<9.\(number) || 102.1", true)
        case .sharedLists:
            rule.regions = number == 0 ? Region.all.map(\.code) : ["JP"]
            rule.versions = (1..<1_000).map { "\(2 * $0)" }.joined(separator: "||") + "||1.1"
            rule.languages = (0..<499).map { "y-\($0)" } + [number == 0 ? "*" : "x-1"]
            rule.attributes = [AttributeCondition(name: "attribute-1", values: (0..<2_000).map { "\($0)" })]
        case .translations:
            rule.texts = (0..<60).map { RuleText(language: "a-b-\(number)-\($0)", title: "A", text: "B") }
        case .lists:
            rule.languages = (0..<500).map { "x-\(number)-\($0)" }
            rule.regions = ["DE", "AT", "CH", "FR"]
        case .attributes:
            rule.attributes = (0..<60).map { attribute in
                AttributeCondition(
                    name: "attribute-\(attribute)",
                    values: (0..<20).map { "\(number)-\($0)-" + String(repeating: "x", count: 40) }
                )
            }
        case .messages:
            rule.text = String(repeating: "\u{1F600}", count: 4_000)
            rule.texts = ["de", "fr", "ja"].map { RuleText(language: $0, title: "A", text: rule.text) }
        }
        return rule
    }
}
