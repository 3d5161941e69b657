@testable import UpdatePolicy

/// What `policy_warnings` must say of a policy, read from its rows in the plainest way: each rule and each release with each
/// other one.
///
/// What rests on the status of a rule is left out: the engine is held to that by itself.
struct WarningOracle {
    /// What is warned of in which rule or release; in neither: what else it is about.
    struct Finding: Hashable, Comparable, CustomStringConvertible {
        let subject: String
        let kind: String

        var description: String { "\(subject): \(kind)" }

        static func < (left: Finding, right: Finding) -> Bool { left.description < right.description }
    }

    let policy: Policy
    let now: Timestamp

    /// Everything that is to be warned of.
    var findings: Set<Finding> {
        var found: Set<Finding> = []
        for rule in policy.rules {
            found.formUnion(
                (ofRule(rule) + ofConditions(rule) + ofLinks(rule) + besideTheWayOut(rule)).map {
                    Finding(subject: "rule \(rule.key)", kind: $0)
                }
            )
        }
        for release in policy.releases {
            found.formUnion(ofRelease(release).map { Finding(subject: "release \(release.id)", kind: $0) })
        }
        for link in policy.apps.flatMap(\.storeLinks) where Self.unusual.contains(link.platform) {
            found.insert(Finding(subject: "neither", kind: "platform"))
        }
        return found
    }

    // MARK: Rules

    private func ofRule(_ rule: Rule) -> [String] {
        var found: [String] = []
        let texts = [rule.title, rule.text] + rule.texts.flatMap { [$0.title, $0.text] }
        if texts.contains(where: Self.hasPlaceholder) { found.append("placeholder") }
        let listed = (rule.attributes ?? []).flatMap { $0.values.texts.map(\.string) }
        if listed.contains(where: { $0.contains(",") }) { found.append("list") }
        let soak = rule.soak?.inMicroseconds ?? 0
        if soak > 0, rule.target == nil, !rule.lockout { found.append("soak") }
        if rule.lockoutWithoutUpdate, !rule.lockout { found.append("lockout_without_update") }
        if rule.fuse != nil, !rule.lockout { found.append("fuse") }
        if rule.lockout, rule.lockoutWithoutUpdate, rule.remind != nil || rule.shows != nil || rule.skippable {
            found.append("hints")
        }
        if rule.rollout.hundredths > 0, rule.rollout.hundredths < 100 { found.append("small") }
        let twoDays: Int64 = 172_800_000_000
        if let end = rule.endsAt, end <= now, rule.enabled || end > now.advanced(byMicroseconds: -twoDays) {
            found.append("ended")
        }
        if soak > 0, soak < 60_000_000 || soak % 60_000_000 != 0 { found.append("short soak") }
        if let target = rule.target.flatMap({ AppVersion($0) }),
            let range = rule.versions.flatMap({ VersionRange($0) }),
            range.intervals.allSatisfy({ !($0.lower < target.key) })
        {
            found.append("above target")
        }
        if let remind = rule.remind, remind.inMicroseconds < 60_000_000 { found.append("short remind") }
        if let target = rule.target, Self.hasSuffix(target) { found.append("suffix") }
        if [rule.versions, rule.builds, rule.os, rule.target].contains(where: Self.hasTextOrder) {
            found.append("text order")
        }
        return found
    }

    private func ofConditions(_ rule: Rule) -> [String] {
        let known = Set(
            policy.releases.filter { rule.bundle == nil || $0.bundle == rule.bundle }.map(\.platform)
                + policy.apps.filter { rule.bundle == nil || $0.bundle == rule.bundle }.flatMap(\.storeLinks).map(
                    \.platform
                )
        )
        var found: [String] = []
        let usual = ["ios", "android", "macos", "windows", "linux", "tvos", "watchos", "visionos", "web"]
        if let platforms = rule.platforms,
            platforms.contains(where: { !known.contains($0) && (!known.isEmpty || !usual.contains($0)) })
        {
            found.append("strange platform")
        }
        if let os = rule.os {
            // The numbers that stand in the range, whatever is round them.
            let words = os.split { " \t|<>=~^".contains($0) }
            for platform in rule.platforms ?? Array(known)
            where words.contains(where: { Self.isNoSystem(platform, $0) }) {
                found.append("system/\(platform)")
            }
        }
        return found
    }

    private func ofLinks(_ rule: Rule) -> [String] {
        var found: [String] = []
        if rule.enabled, rule.lockout, rule.lockoutWithoutUpdate, rule.endsAt == nil { found.append("endless") }
        guard rule.link == "store" else {
            if rule.link == nil, rule.lockout, !rule.lockoutWithoutUpdate { found.append("link") }
            return found
        }
        func lacks(_ bundle: String, _ platform: String?) -> Bool {
            let links = policy.apps.first { $0.bundle == bundle }?.storeLinks ?? []
            return platform.map { platform in !links.contains { $0.platform == platform } } ?? links.isEmpty
        }
        let released = policy.releases.contains {
            (rule.bundle == nil || $0.bundle == rule.bundle) && rule.platforms?.contains($0.platform) != false
                && !isGone($0)
                && lacks($0.bundle, $0.platform)
        }
        let named = rule.bundle.map { bundle in
            rule.platforms.map { $0.contains { lacks(bundle, $0) } }
                ?? (!policy.releases.contains { $0.bundle == bundle } && lacks(bundle, nil))
        }
        if released || named == true { found.append("store link") }
        return found
    }

    /// Where a lockout matches what went live with its way out, or after it.
    private func besideTheWayOut(_ rule: Rule) -> [String] {
        guard rule.enabled, rule.lockout, !rule.lockoutWithoutUpdate else { return [] }
        let usable = policy.releases.filter { $0.liveAt != nil && !$0.staged && !isGone($0) }
        var places: Set<String> = []
        for matched in usable where Self.matches(rule, matched) {
            guard rule.bundle == nil || rule.bundle == matched.bundle,
                rule.platforms?.contains(matched.platform) != false, Self.overlap(rule.regions, matched.regions)
            else { continue }
            let offers = usable.filter {
                $0.bundle == matched.bundle && $0.platform == matched.platform
                    && Self.overlap($0.regions, matched.regions)
            }.sorted { Self.isBefore($1, $0) || !Self.isBefore($0, $1) && $0.liveAt! < $1.liveAt! }
            guard let offer = offers.first, !Self.matches(rule, offer), Self.isWayOut(offer, of: matched) else {
                continue
            }
            if matched.liveAt! > offer.liveAt!.advanced(byMicroseconds: -86_400_000_000) {
                places.insert("beside/\(matched.bundle) \(matched.platform)")
            }
        }
        return Array(places)
    }

    // MARK: Releases

    private func ofRelease(_ release: Release) -> [String] {
        var found: [String] = []
        let others = policy.releases.filter { $0.bundle == release.bundle && $0.platform == release.platform }
        if Self.unusual.contains(release.platform) { found.append("platform") }
        if let minOS = release.minOS, Self.isNoSystem(release.platform, minOS[...]) {
            found.append("system/\(release.platform)")
        }
        if [release.version, release.minOS].contains(where: Self.hasTextOrder) { found.append("text order") }
        if release.build == nil, Self.hasSuffix(release.version) { found.append("suffix") }
        if release.staged, release.liveAt != nil { found.append("staged") }
        if !release.staged, release.liveAt == nil, release.withdrawnAt == nil { found.append("no live_at") }
        if others.contains(where: { isAgain(release, $0) }) { found.append("again") }
        if let withdrawnAt = release.withdrawnAt, withdrawnAt <= now { return found }

        let before = others.filter { Self.isBefore($0, release) }
        if release.minOS == nil, before.contains(where: { $0.minOS != nil }) { found.append("min_os") }
        if let liveAt = release.liveAt, !release.staged,
            others.contains(where: { other in
                Self.isAbove(other, release) && !other.staged && other.withdrawnAt == nil
                    && other.liveAt.map { $0 < liveAt } == true && Self.hasAll(other, of: release)
            })
        {
            found.append("never offered")
        }
        return found
    }

    private func isAgain(_ release: Release, _ other: Release) -> Bool {
        other.id < release.id && AppVersion(other.version) == AppVersion(release.version)
            && (other.build == nil || release.build == nil
                || AppVersion(other.build!) == AppVersion(release.build!))
            && Self.overlap(other.regions, release.regions)
            && (other.withdrawnAt.map { $0 > now && $0 > release.liveAt ?? now } ?? true)
            && (release.withdrawnAt.map { $0 > now && $0 > other.liveAt ?? now } ?? true)
    }

    /// Whether nobody has a release any more.
    private func isGone(_ release: Release) -> Bool {
        release.withdrawnAt.map { $0 <= now || $0 <= release.liveAt ?? now } ?? false
    }

    /// Whether one release comes before the other in the order of versions, then builds, first one without a build.
    private static func isBefore(_ left: Release, _ right: Release) -> Bool {
        let (first, second) = (AppVersion(left.version)!, AppVersion(right.version)!)
        if first != second { return first < second }
        guard let build = right.build else { return false }
        return left.build.map { AppVersion($0)! < AppVersion(build)! } ?? true
    }

    /// Whether a release is known to be greater: a build that is not recorded may be any.
    private static func isAbove(_ left: Release, _ right: Release) -> Bool {
        let (first, second) = (AppVersion(left.version)!, AppVersion(right.version)!)
        if first != second { return first > second }
        guard let build = left.build, let other = right.build else { return false }
        return AppVersion(build)! > AppVersion(other)!
    }

    /// Whether everybody who can have one release can have the other.
    private static func hasAll(_ other: Release, of release: Release) -> Bool {
        let systems =
            other.minOS.map { least in release.minOS.map { AppVersion(least)! <= AppVersion($0)! } ?? false } ?? true
        let regions =
            other.regions.map { regions in release.regions.map { Set($0).isSubset(of: regions) } ?? false } ?? true
        return systems && regions
    }

    private static func overlap(_ left: [String]?, _ right: [String]?) -> Bool {
        guard let left, let right else { return true }
        return !Set(left).isDisjoint(with: right)
    }

    /// Whether who has one release is offered something newer with the other.
    private static func isWayOut(_ offer: Release, of release: Release) -> Bool {
        let (numbers, others) = (AppVersion(Self.numbers(offer.version))!, AppVersion(Self.numbers(release.version))!)
        if others < numbers { return true }
        guard AppVersion(offer.version) == AppVersion(release.version), let build = offer.build,
            let other = release.build
        else { return false }
        return AppVersion(other)! < AppVersion(build)!
    }

    private static func matches(_ rule: Rule, _ release: Release) -> Bool {
        let version = AppVersion(release.version)!
        func contains(_ range: String, _ version: AppVersion) -> Bool {
            VersionRange(range)?.contains(version) ?? false
        }
        return rule.versions.map { contains($0, version) } ?? true
            && rule.builds.flatMap { builds in release.build.map { contains(builds, AppVersion($0)!) } } ?? true
            && rule.target.map { version < AppVersion($0)! } ?? true
    }

    // MARK: Texts

    private static let unusual: Set<String> = ["iphone", "osx"]

    private static func numbers(_ version: String) -> String {
        String(version.drop { " \t\r\nvV".contains($0) }.prefix { $0.isNumber || $0 == "." })
    }

    private static func hasSuffix(_ version: String) -> Bool { version.contains("+") || version.contains("(") }

    private static func hasTextOrder(_ text: String?) -> Bool {
        text?.contains(/[0-9]-[0-9A-Za-z.\-]*[A-Za-z][0-9]/) ?? false
    }

    private static func hasPlaceholder(_ text: String) -> Bool {
        let braces = text.matches(of: /\{[A-Za-z_][A-Za-z0-9_.\-]{0,30}\}/).map(\.output)
        let doubled = text.firstMatch(of: /[$]\{+(app|target|date)|\{(\{+ ?|\ )(app|target|date)\ ?\}/)
        let open = text.firstMatch(of: /\{(app|target|date)(\ \}|\}\})/)
        return doubled != nil || open != nil || braces.contains { !["{app}", "{target}", "{date}"].contains($0) }
    }

    /// Whether a version begins with a number that no system of a platform ever had, or calls Windows 11 by its name.
    private static func isNoSystem(_ platform: String, _ version: Substring) -> Bool {
        let digits = version.drop { " \t\r\nvV".contains($0) }.prefix { $0.isNumber }
        guard let number = Int(digits) else { return false }
        switch platform {
        case "ios": return (19...25).contains(number)
        case "macos": return (16...25).contains(number)
        case "android": return number >= 20
        case "windows": return (11...99).contains(number)
        default: return false
        }
    }
}
