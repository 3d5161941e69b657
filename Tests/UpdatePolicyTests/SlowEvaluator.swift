import UpdatePolicy

/// A plain reading of what a policy means: every rule is asked of every client, from the rows, with no index.
///
/// It shares nothing with the compiled policy but the readers of ranges, regions and languages, which have tests of
/// their own.
struct SlowEvaluator {
    struct Sent: Equatable {
        let key: String
        let lockout: Bool
    }

    let policy: Policy

    func sent(to client: Client, at time: Timestamp) -> [Sent] {
        guard let bundle = client.bundle?.string.lowercased() else { return [] }
        if policy.apps.contains(where: { $0.bundle.lowercased() == bundle && $0.paused }) { return [] }
        let rules = policy.rules
            .filter { $0.bundle == nil || $0.bundle?.lowercased() == bundle }
            .sorted { ($0.position, $0.key) < ($1.position, $1.key) }
        var sent: [Sent] = []
        for rule in rules where matches(rule, client, time) {
            let needsWayOut = rule.lockout && !rule.lockoutWithoutUpdate
            sent.append(Sent(key: rule.key, lockout: needsWayOut ? hasWayOut(rule, client, time) : rule.lockout))
            if rule.final { break }
        }
        return sent
    }

    private func matches(_ rule: Rule, _ client: Client, _ time: Timestamp) -> Bool {
        guard rule.enabled else { return false }
        guard holds(rule.versions, client.version), holds(rule.builds, client.build), holds(rule.os, client.os) else {
            return false
        }
        if let platforms = rule.platforms {
            guard let platform = client.platform, platforms.contains(where: { Platform($0) == platform }) else {
                return false
            }
        }
        if let regions = rule.regions {
            guard let region = client.region, regions.contains(region.code) else { return false }
        }
        if let languages = rule.languages {
            guard let language = client.language, languages.contains(where: { language.matches(LanguageTag($0)) })
            else {
                return false
            }
        }
        for attribute in rule.attributes ?? [] {
            guard let value = client.attribute(UTF8Text(attribute.name)), attribute.values.contains(value.string) else {
                return false
            }
        }
        if let target = rule.target.flatMap({ AppVersion($0) }) {
            guard let version = client.version, version < target,
                let offer = offer(rule, client, time, isStrict: false), let offered = AppVersion(offer.version),
                !(offered < target)
            else { return false }
        }
        if let start = rule.startsAt, time < start { return false }
        if let end = rule.endsAt, !(time < end) { return false }
        let step = rule.steps.filter { $0.at <= min(time, rule.heldAt ?? time) }.max { $0.at < $1.at }
        let rollout = (step?.rollout ?? rule.rollout).hundredths
        if rollout == 10_000 { return true }
        guard let install = client.install else { return false }
        return Bucket(key: rule.key, install: install).number < rollout
    }

    private func holds(_ range: String?, _ version: AppVersion?) -> Bool {
        guard let range else { return true }
        guard let version, let range = VersionRange(range) else { return false }
        return range.contains(version)
    }

    private func offer(_ rule: Rule, _ client: Client, _ time: Timestamp, isStrict: Bool) -> Release? {
        guard let platform = client.platform else { return nil }
        return policy.releases
            .filter { release in
                guard release.bundle.lowercased() == client.bundle?.string.lowercased(),
                    Platform(release.platform) == platform, !release.staged, let liveAt = release.liveAt,
                    liveAt.advanced(byMicroseconds: rule.soakMicroseconds) <= time
                else { return false }
                if let withdrawnAt = release.withdrawnAt, withdrawnAt <= time { return false }
                if let regions = release.regions {
                    guard let region = client.region else { return !isStrict && isOnOS(release, client, isStrict) }
                    if !regions.contains(region.code) { return false }
                }
                return isOnOS(release, client, isStrict)
            }
            .max { left, right in
                if let left = AppVersion(left.version), let right = AppVersion(right.version), left != right {
                    return left < right
                }
                switch (left.build.flatMap { AppVersion($0) }, right.build.flatMap { AppVersion($0) }) {
                case (nil, .some): return true
                case (.some(let left), .some(let right)): return left < right
                default: return false
                }
            }
    }

    private func isOnOS(_ release: Release, _ client: Client, _ isStrict: Bool) -> Bool {
        guard let minOS = release.minOS.flatMap({ AppVersion($0) }) else { return true }
        guard let os = client.os, !Self.isOfNoSystem(os, client.platform) else { return !isStrict }
        return os >= minOS
    }

    /// Whether no system of a platform ever had this number.
    static func isOfNoSystem(_ os: AppVersion, _ platform: Platform?) -> Bool {
        let first = Int(os.text.prefix { $0.isNumber }) ?? 0
        switch platform?.name {
        case "ios": return first >= 19 && first <= 25
        case "macos": return first >= 16 && first <= 25
        case "android": return first >= 20
        default: return false
        }
    }

    /// A version without its pre-release: an app that calls itself 1.2.0-play may be the release 1.2.0.
    private func numbers(of version: AppVersion) -> AppVersion {
        let numbers = version.text.drop { "vV".contains($0) }.prefix { "0123456789.".contains($0) }
        return AppVersion(String(numbers)) ?? version
    }

    private func hasWayOut(_ rule: Rule, _ client: Client, _ time: Timestamp) -> Bool {
        guard let offer = offer(rule, client, time, isStrict: true), let version = AppVersion(offer.version) else {
            return false
        }
        let build = offer.build.flatMap { AppVersion($0) }
        let isNewerBuild = build.flatMap { build in client.build.map { $0 < build } } ?? false
        let isAbove =
            client.version.map { numbers(of: $0) < numbers(of: version) || $0 == version && isNewerBuild }
            ?? isNewerBuild
        guard isAbove else { return false }
        let target = rule.target.flatMap { AppVersion($0) }
        let wouldMatch =
            holds(rule.versions, version) && (build == nil || holds(rule.builds, build))
            && (target.map { version < $0 } ?? true)
        return !wouldMatch
    }
}
