import TestPolicies
import TestRandom

@testable import UpdatePolicy

/// A plain reading of what a policy says to every version at once: every rule is asked about every version of a small
/// universe, from the rows.
struct AnnouncementOracle {
    let policy: Policy
    let question: Client
    let time: Timestamp
    /// The system that all clients have at least, where the question does not name it.
    let leastSystem: AppVersion?

    /// Versions near all those that the policy names: themselves, just above, just below, and the ends of families.
    let universe: [AppVersion]
    /// The versions that a release of the platform or a rule names.
    let spelled: [AppVersion]
    private let released: Set<AppVersion>

    init(_ policy: Policy, _ question: Client, _ time: Timestamp, leastSystem: AppVersion? = nil) {
        self.policy = policy
        self.question = question
        self.time = time
        self.leastSystem = leastSystem
        let operands = policy.rules.flatMap { Self.versions(namedBy: $0) }
        let ofReleases = policy.releases.filter { Self.isOf($0, question) }.map(\.version)
        released = Set(ofReleases.compactMap { AppVersion($0) })
        spelled = (operands + ofReleases).compactMap { AppVersion($0) }
        var texts: Set<String> = ["0-0", "0", "999"]
        for text in operands + policy.releases.map(\.version) {
            let numbers = text.split(separator: "-")[0].split(separator: ".").compactMap { Int($0) }
            let joined = numbers.map(String.init).joined(separator: ".")
            texts.formUnion([
                text, "\(text)-bet.z", "\(joined)-0", "\(joined)-bet.z", "\(joined)-zz", "\(joined).0.0.1",
            ])
            for count in 1...max(1, numbers.count) where !numbers.isEmpty {
                let prefix = numbers.prefix(count)
                var next = Array(prefix)
                next[count - 1] += 1
                texts.formUnion([
                    prefix.map(String.init).joined(separator: ".") + ".99999",
                    next.map(String.init).joined(separator: ".") + "-0",
                ])
            }
        }
        universe = texts.compactMap { AppVersion($0) }.sorted()
    }

    private static func versions(namedBy rule: Rule) -> [String] {
        (rule.versions ?? "").split { " |<>=~^".contains($0) }.map(String.init) + [rule.target].compactMap(\.self)
    }

    /// Whether a release has the version, or a rule that ends there and whose conditions all clients meet names it.
    private func isSpelled(_ version: AppVersion) -> Bool {
        released.contains(version)
            || rules.contains { rule in
                Self.versions(namedBy: rule).contains { AppVersion($0) == version } && conditions(rule) == 1
                    && universe.last { reach(rule, $0) >= 0 } == universe.last { $0 < version }
            }
    }

    private static func isOf(_ release: Release, _ client: Client) -> Bool {
        release.bundle.lowercased() == client.bundle?.string.lowercased()
            && Platform(release.platform) == client.platform
    }

    /// The rules of the app and of every app that could be sent to anybody, in order.
    private var rules: [Rule] {
        policy.rules
            .filter { $0.bundle == nil || $0.bundle?.lowercased() == question.bundle?.string.lowercased() }
            .sorted { ($0.position, $0.key) < ($1.position, $1.key) }
    }

    // MARK: What holds of a rule whatever is not known

    /// Whether a rule is met by every client at a version (1), by some (0), or by none (-1).
    private func reach(_ rule: Rule, _ version: AppVersion) -> Int {
        guard holds(rule.versions, version), rule.target.flatMap({ AppVersion($0) }).map({ version < $0 }) ?? true
        else {
            return -1
        }
        return conditions(rule)
    }

    private func holds(_ range: String?, _ version: AppVersion?) -> Bool {
        guard let range else { return true }
        guard let version, let range = VersionRange(range) else { return false }
        return range.contains(version)
    }

    private func conditions(_ rule: Rule) -> Int {
        func sent(_ isMet: Bool) -> Int { isMet ? 1 : -1 }
        var parts = [
            sent(rule.enabled), sent(rule.startsAt.map { $0 <= time } ?? true),
            sent(rule.endsAt.map { time < $0 } ?? true),
        ]
        if let platforms = rule.platforms {
            parts.append(sent(platforms.contains { Platform($0) == question.platform }))
        }
        if rule.builds != nil { parts.append(question.buildText == nil ? 0 : sent(holds(rule.builds, question.build))) }
        if rule.os != nil { parts.append(question.osText == nil ? system(rule.os) : sent(holds(rule.os, question.os))) }
        if let regions = rule.regions {
            let isMet = question.region.map { regions.contains($0.code) } ?? false
            parts.append(question.regionText == nil ? 0 : sent(isMet))
        }
        if let languages = rule.languages {
            let isMet = question.language.map { tag in languages.contains { tag.matches(LanguageTag($0)) } }
            parts.append(isMet.map(sent) ?? 0)
        }
        for attribute in rule.attributes ?? [] {
            let isMet = question.attribute(UTF8Text(attribute.name)).map { value in
                switch attribute.values {
                case .among(let texts): texts.contains(value)
                case .not(let texts): !texts.contains(value)
                case .range(let range): holds(range.string, AppVersion(value.string))
                }
            }
            parts.append(isMet.map(sent) ?? 0)
        }
        let step = rule.steps.filter { $0.at <= min(time, rule.heldAt ?? time) }.max { $0.at < $1.at }
        let rollout = (step?.rollout ?? rule.rollout).hundredths
        if rollout == 0 {
            parts.append(-1)
        } else if rollout < 10_000 {
            parts.append(question.install.map { sent(Bucket(key: rule.key, install: $0).number < rollout) } ?? 0)
        }
        if let target = rule.target.flatMap({ AppVersion($0) }) {
            let offers = offers(rule, isStrict: false)
            let versions = offers.releases.compactMap { AppVersion($0.version) }
            if offers.isCertain, let least = versions.last, least >= target {
                parts.append(1)
            } else {
                parts.append((versions.first.map { $0 >= target } ?? false) ? 0 : -1)
            }
        }
        return parts.min() ?? 1
    }

    /// How a system that was not sent stands to a range.
    private func system(_ range: String?) -> Int {
        guard let leastSystem, let range = range.flatMap({ VersionRange($0) }) else { return 0 }
        let systems =
            ["14", "14.8", "15", "15.1", "16", "16.1", "17", "99"].compactMap { AppVersion($0) }
            .filter { $0 >= leastSystem } + [leastSystem]
        if systems.allSatisfy({ range.contains($0) }) { return 1 }
        return systems.contains { range.contains($0) } ? 0 : -1
    }

    /// The releases that may be the offer under a rule, the greatest first, and whether the last is one in any case.
    func offers(_ rule: Rule?, isStrict: Bool) -> (releases: [Release], isCertain: Bool) {
        let live = policy.releases.filter { release in
            guard Self.isOf(release, question), !release.staged, let liveAt = release.liveAt,
                liveAt.advanced(byMicroseconds: rule?.soakMicroseconds ?? 0) <= time
            else { return false }
            return release.withdrawnAt.map { time < $0 } ?? true
        }.sorted(by: Self.isGreater)
        var offers: [Release] = []
        for release in live {
            var parts = [1]
            if let regions = release.regions {
                if let region = question.region {
                    parts.append(regions.contains(region.code) ? 1 : -1)
                } else {
                    parts.append(question.regionText == nil ? 0 : isStrict ? -1 : 1)
                }
            }
            if let minOS = release.minOS.flatMap({ AppVersion($0) }) {
                if let os = question.os, !question.sentNumberOfNoSystem {
                    parts.append(os >= minOS ? 1 : -1)
                } else if question.osText != nil {
                    parts.append(isStrict ? -1 : 1)
                } else {
                    parts.append(leastSystem.map { $0 >= minOS ? 1 : 0 } ?? 0)
                }
            }
            if parts.contains(-1) { continue }
            offers.append(release)
            if !parts.contains(0) { return (offers, true) }
        }
        return (offers, false)
    }

    private static func isGreater(_ left: Release, _ right: Release) -> Bool {
        guard let leftVersion = AppVersion(left.version), let rightVersion = AppVersion(right.version) else {
            return false
        }
        if leftVersion != rightVersion { return leftVersion > rightVersion }
        switch (left.build.flatMap { AppVersion($0) }, right.build.flatMap { AppVersion($0) }) {
        case (.some, nil): return true
        case (.some(let left), .some(let right)) where left != right: return left > right
        case (nil, .some), (.some, .some), (nil, nil):
            return left.build != nil && right.build == nil || left.id < right.id
        }
    }

    private func rulesCertain(at version: AppVersion) -> [Rule] {
        var certain: [Rule] = []
        for rule in rules {
            let reach = reach(rule, version)
            if reach == 1 { certain.append(rule) }
            if reach >= 0, rule.final { break }
        }
        return certain
    }

    private func isCertainlyLockedOut(_ version: AppVersion, by rule: Rule) -> Bool {
        guard rule.lockout else { return false }
        if rule.lockoutWithoutUpdate { return true }
        let offers = offers(rule, isStrict: true)
        return offers.isCertain
            && offers.releases.allSatisfy { release in
                guard let offered = AppVersion(release.version) else { return false }
                let isBelowTarget = rule.target.flatMap { AppVersion($0) }.map { offered < $0 } ?? true
                return Self.numbers(version) < Self.numbers(offered)
                    && !(holds(rule.versions, offered) && isBelowTarget)
            }
    }

    /// A version without its pre-release.
    static func numbers(_ version: AppVersion) -> AppVersion {
        AppVersion(String(version.text.drop { $0 == "v" }.prefix { "0123456789.".contains($0) })) ?? version
    }

    /// Whether the versions of a rule have an end.
    func ends(_ rule: Rule) -> Bool {
        let isBelowTarget = rule.target.flatMap { AppVersion($0) } != nil
        return isBelowTarget || rule.versions != nil && !holds(rule.versions, universe.last)
    }

    // MARK: What is to be announced

    /// The greatest version that all clients below it are asked to reach, and the greatest of those below whose numbers all
    /// are locked out.
    func announced() -> (prompt: AppVersion?, floor: AppVersion?) {
        let offers = offers(nil, isStrict: false)
        guard offers.isCertain, let least = offers.releases.last.flatMap({ AppVersion($0.version) }) else {
            return (nil, nil)
        }
        let certain = universe.map { (version: $0, rules: rulesCertain(at: $0)) }
        /// The key of each rule that reaches no version from this one on, or none up to the least offer where it ends above.
        func rulesWhollyBelow(_ bound: AppVersion) -> Set<String> {
            let reaching = rules.filter { rule in
                universe.contains { $0 >= bound && ($0 < least || !ends(rule)) && reach(rule, $0) >= 0 }
            }
            return Set(rules.map(\.key)).subtracting(reaching.map(\.key))
        }
        let prompts = spelled.filter { bound in
            let below = rulesWhollyBelow(bound)
            let versions = certain.filter { $0.version < bound }
            return bound <= least && isSpelled(bound) && !versions.isEmpty
                && versions.allSatisfy { $0.rules.contains { below.contains($0.key) } }
        }
        let floors = prompts.filter { bound in
            let below = rulesWhollyBelow(bound)
            let isNumeric = Self.numbers(bound) == bound
            let versions = certain.filter { isNumeric ? Self.numbers($0.version) < bound : $0.version < bound }
            return !versions.isEmpty
                && versions.allSatisfy { version, rules in
                    rules.contains { below.contains($0.key) && isCertainlyLockedOut(version, by: $0) }
                }
        }
        return (prompts.max(), floors.max())
    }
}
