import PolicyStore

@testable import UpdatePolicy

/// What each rule of a policy is, decided plainly and apart from SQL: at one moment after the other, client by client.
///
/// What the clock changes it changes at moments that stand in the rows, so between two of them a rule is what it is at the
/// first.
final class StatusOracle {
    /// What counts as a change.
    private struct State: Equatable {
        let name: RuleStatus.Name
        /// The rollout of a rule that sends messages.
        let sentTo: Percentage?
    }

    /// Where a rule locks out.
    private struct Place {
        /// The app, in a rule for every app.
        let bundle: String?
        let platform: String
        let region: String?

        var name: String { platform + (region.map { " in \($0)" } ?? "") + (bundle.map { " of \($0)" } ?? "") }
    }

    /// A rule whose conditions were read; a range that cannot be read matches nobody.
    private struct Conditions {
        let row: Rule
        let bundle: String?
        let versions: [VersionInterval]?
        let builds: [VersionInterval]?
        let os: [VersionInterval]?
        let target: VersionKey?
        let platforms: [String]?

        init(_ row: Rule) {
            func read(_ range: String?) -> [VersionInterval]? { range.map { VersionRange($0)?.intervals ?? [] } }
            self.row = row
            bundle = row.bundle.map(ASCII.lowercased)
            (versions, builds, os) = (read(row.versions), read(row.builds), read(row.os))
            target = row.target.flatMap { AppVersion($0)?.key }
            platforms = row.platforms.map { Set($0.map { UTF8Text(Platform($0).name) }).sorted().map(\.string) }
        }

        /// The readable versions that it is for.
        var effective: [VersionInterval] { (versions ?? [.all]).below(target ?? .maximum) }
    }

    private static let mostNames = 20

    private let apps: [App]
    /// The rules in the order of their messages.
    private let rules: [Conditions]
    /// By bundle in lower case, then by platform; the greatest first.
    private var releases: [String: [String: [JudgedRelease]]] = [:]
    private let times: [Timestamp]
    /// What each rule was found to be, by its key: from each moment on at which something may change.
    private var histories: [String: [(at: Timestamp, state: State)]] = [:]

    init(_ policy: Policy) {
        apps = policy.apps.sorted { UTF8Text($0.bundle) < UTF8Text($1.bundle) }
        rules = policy.rules.sorted(by: Rule.precedes).map { Conditions($0) }
        for release in policy.releases.compactMap({ JudgedRelease($0) }) {
            let (bundle, platform) = (ASCII.lowercased(release.row.bundle), Platform(release.row.platform).name)
            releases[bundle, default: [:]][platform, default: []].append(release)
        }
        releases = releases.mapValues { app in
            app.mapValues { $0.sorted { $1.isLess(than: $0) ?? ($0.row.id < $1.row.id) } }
        }
        let soaks = Set(policy.rules.map(\.soakMicroseconds))
        times = Set(
            policy.rules.flatMap { [$0.startsAt, $0.endsAt].compactMap(\.self) + $0.steps.map(\.at) }
                + policy.releases.flatMap { release in
                    [release.withdrawnAt].compactMap(\.self)
                        + soaks.compactMap { release.liveAt?.advanced(byMicroseconds: $0) }
                }
        ).sorted()
    }

    /// The rows of `rule_status` at a moment.
    func rows(at time: Timestamp) -> [Answer.Row] {
        rules.map { rule in
            let history = history(of: rule)
            let present = history.lastIndex { $0.at <= time } ?? 0
            let changes = history.indices.dropFirst().filter { history[$0].state != history[$0 - 1].state }
            let since = changes.last { $0 <= present }.map { history[$0].at }
            let next = changes.first { $0 > present }.map { history[$0].at }
            let name = history[present].state.name
            return [
                UTF8Text(rule.row.key), UTF8Text(name.rawValue), since.map { UTF8Text($0.description) },
                next.map { UTF8Text($0.description) }, UTF8Text(rule.row.rollout(at: time).description),
                reason(name, rule, at: time).map { UTF8Text($0) },
            ]
        }
    }

    private func history(of rule: Conditions) -> [(at: Timestamp, state: State)] {
        if let known = histories[rule.row.key] { return known }
        let history = ([.earliest] + times).map { time in
            let name = name(of: rule, at: time)
            return (at: time, state: State(name: name, sentTo: name.isSent ? rule.row.rollout(at: time) : nil))
        }
        histories[rule.row.key] = history
        return history
    }

    private func name(of rule: Conditions, at time: Timestamp) -> RuleStatus.Name {
        let row = rule.row
        if !row.enabled { return .disabled }
        if let end = row.endsAt, end <= time { return .ended }
        if apps.contains(where: { $0.paused && ASCII.lowercased($0.bundle) == rule.bundle }) { return .paused }
        if let start = row.startsAt, time < start { return .scheduled }
        if !isReached(rule, at: time) || row.rollout(at: time) == .zero { return .waiting }
        if hidingRule(rule, at: time) != nil { return .hidden }
        guard row.lockout, !row.lockoutWithoutUpdate else { return .on }
        let places = places(of: rule)
        let open = places.filter { hasWayOut($0, of: rule, at: time) }.count
        return open == 0 ? .onWithoutLockout : open == places.count ? .on : .partlyWithoutLockout
    }

    // MARK: Targets

    private func targeted(_ rule: Conditions) -> [(platform: String, release: JudgedRelease)] {
        guard let target = rule.target, let bundle = rule.bundle else { return [] }
        return (releases[bundle] ?? [:]).filter { rule.platforms?.contains($0.key) ?? true }.flatMap { here in
            here.value.filter { !($0.version < target) }.map { (here.key, $0) }
        }
    }

    /// Whether somebody whom the rule is for can have a release that reaches its target.
    private func isReached(_ rule: Conditions, at time: Timestamp) -> Bool {
        rule.target == nil
            || targeted(rule).contains { _, release in
                isThere(release, rule, at: time) && isForRegions(release, rule) && isForSystems(release, rule)
            }
    }

    private func isForRegions(_ release: JudgedRelease, _ rule: Conditions) -> Bool {
        guard let regions = release.row.regions, let wanted = rule.row.regions else { return true }
        return wanted.contains { regions.contains($0) }
    }

    private func isForSystems(_ release: JudgedRelease, _ rule: Conditions) -> Bool {
        guard let minOS = release.minOS, let systems = rule.os else { return true }
        return systems.contains { minOS < $0.upper }
    }

    // MARK: Final rules

    /// The first final rule before one that is sent to everybody whom that one is for.
    private func hidingRule(_ rule: Conditions, at time: Timestamp) -> Rule? {
        rules.prefix { Rule.precedes($0.row, rule.row) }.first { other in
            let row = other.row
            return row.enabled && row.final && row.target == nil && row.rollout(at: time) == .all
                && row.startsAt.map { $0 <= time } ?? true && row.endsAt.map { time < $0 } ?? true
                && Self.includes(other, rule)
        }?.row
    }

    private static func includes(_ rule: Conditions, _ other: Conditions) -> Bool {
        func has<Value>(_ values: [Value]?, _ others: [Value]?, _ holds: (Value, Value) -> Bool) -> Bool {
            guard let values else { return true }
            return others?.allSatisfy { other in values.contains { holds($0, other) } } ?? false
        }
        func covers(_ intervals: [VersionInterval]?, _ others: [VersionInterval]?) -> Bool {
            guard let intervals else { return true }
            // Where something of the others begins that is not covered: with one of them, or where an interval ends.
            let places = others.map { $0.map(\.lower) + intervals.map(\.upper) }
            return places?.allSatisfy { place in
                !(others ?? []).contains { $0.contains(place) } || intervals.contains { $0.contains(place) }
            } ?? false
        }
        let (row, otherRow) = (rule.row, other.row)
        let versions = other.versions == nil && other.target == nil ? nil : other.effective
        return (rule.bundle == nil || rule.bundle == other.bundle) && covers(rule.versions, versions)
            && covers(rule.builds, other.builds) && covers(rule.os, other.os)
            && has(rule.platforms, other.platforms) { UTF8Text($0) == UTF8Text($1) }
            && has(row.regions, otherRow.regions) { $0 == $1 }
            && has(row.languages, otherRow.languages) { LanguageTag($1).matches(LanguageTag($0)) }
            && (row.attributes ?? []).allSatisfy { attribute in
                (otherRow.attributes ?? []).contains { other in
                    guard UTF8Text(attribute.name) == UTF8Text(other.name) else { return false }
                    guard case (.among(let values), .among(let others)) = (attribute.values, other.values) else {
                        return attribute.values == other.values
                    }
                    return has(values, others, ==)
                }
            }
    }

    // MARK: Ways out

    private func platforms(of bundle: String) -> [String] {
        (releases[ASCII.lowercased(bundle)] ?? [:]).keys.sorted { UTF8Text($0) < UTF8Text($1) }
    }

    private func places(of rule: Conditions) -> [Place] {
        var places: [(bundle: String?, platform: String)] = []
        if let bundle = rule.bundle {
            places = (rule.platforms ?? platforms(of: bundle)).map { (nil, $0) }
        } else {
            for app in apps where !app.paused {
                places += platforms(of: app.bundle).filter { rule.platforms?.contains($0) ?? true }
                    .map { (app.bundle, $0) }
            }
            let known = Set(places.map(\.platform))
            places = (rule.platforms ?? []).filter { !known.contains($0) }.map { (nil, $0) } + places
        }
        let regions = rule.row.regions.map { Set($0.map { UTF8Text($0) }).sorted().map { Optional($0.string) } }
        return places.flatMap { place in
            (regions ?? [nil]).map { Place(bundle: place.bundle, platform: place.platform, region: $0) }
        }
    }

    /// Whether some client there whom the rule is for could leave its lockout.
    private func hasWayOut(_ place: Place, of rule: Conditions, at time: Timestamp) -> Bool {
        guard let bundle = (place.bundle ?? rule.row.bundle).map(ASCII.lowercased) else { return false }
        let there = (releases[bundle]?[place.platform] ?? []).filter { isThere($0, rule, at: time) }
        let named = there.flatMap { $0.row.regions ?? [] }.map { Optional($0) }
        let regions = rule.row.regions == nil ? [nil] + named : [place.region]
        let systems = there.compactMap(\.minOS)
        // Without a condition on it a client may also say nothing of its system.
        let known = rule.os.map { spans in
            (spans.map(\.lower) + systems).filter { system in spans.contains { $0.contains(system) } }
                .map { Optional($0) }
        }
        return Set(regions).contains { region in
            Set(known ?? [nil] + systems.map { Optional($0) }).contains { system in
                func isFor(_ release: JudgedRelease, isLenient: Bool) -> Bool {
                    (release.row.regions.map { regions in region.map(regions.contains) ?? isLenient } ?? true)
                        && (release.minOS.map { minOS in system.map { !($0 < minOS) } ?? isLenient } ?? true)
                }
                guard let offer = there.first(where: { isFor($0, isLenient: false) }), Self.isExit(offer, from: rule)
                else { return false }
                guard let target = rule.target else { return true }
                return there.contains { !($0.version < target) && isFor($0, isLenient: true) }
            }
        }
    }

    /// Whether users have had a release for as long as a rule asks.
    private func isThere(_ release: JudgedRelease, _ rule: Conditions, at time: Timestamp) -> Bool {
        guard !release.row.staged, let liveAt = release.row.liveAt else { return false }
        return liveAt.advanced(byMicroseconds: rule.row.soakMicroseconds) <= time
            && release.row.withdrawnAt.map { time < $0 } ?? true
    }

    /// Whether a release is above some client that a rule matches, and is not matched itself.
    private static func isExit(_ release: JudgedRelease, from rule: Conditions) -> Bool {
        func holds(_ intervals: [VersionInterval]?, _ key: VersionKey?) -> Bool {
            guard let intervals, let key else { return true }
            return intervals.contains { $0.contains(key) }
        }
        let isMatched =
            holds(rule.versions, release.version) && holds(rule.builds, release.build)
            && rule.target.map { release.version < $0 } ?? true
        if isMatched { return false }
        // The least clients, and those with the version of the release itself.
        let versions = (rule.effective.map(\.lower) + [release.version]).filter { holds(rule.effective, $0) }
        let builds = [nil] + (rule.builds ?? [.all]).map { Optional($0.lower) }
        return versions.contains { version in
            builds.contains { build in
                (rule.builds == nil || build != nil) && release.isAbove(version, build: build)
            }
        }
    }
}

extension StatusOracle {
    private func reason(_ name: RuleStatus.Name, _ rule: Conditions, at time: Timestamp) -> String? {
        let reason = reasonOfStatus(name, rule, at: time)
        guard name != .disabled, name != .ended, let since = rule.row.holdInForce(at: time) else { return reason }
        return [reason, "its steps have been held since \(since)"].compactMap(\.self).joined(separator: "; ")
    }

    private func reasonOfStatus(_ name: RuleStatus.Name, _ rule: Conditions, at time: Timestamp) -> String? {
        switch name {
        case .disabled, .ended, .on: return nil
        case .paused:
            let app = apps.first { ASCII.lowercased($0.bundle) == rule.bundle }
            return "\(app?.bundle ?? rule.row.bundle ?? "") is paused"
        case .scheduled: return rule.row.startsAt.map { "it starts at \($0)" }
        case .waiting:
            if !isReached(rule, at: time) { return missingRelease(rule, at: time) }
            let step = rule.row.effectiveSteps.filter { time < $0.at && $0.rollout > .zero }.min { $0.at < $1.at }
            return step.map { "the step to \($0.rollout) % comes at \($0.at)" } ?? "its rollout is 0 %"
        case .hidden:
            let key = hidingRule(rule, at: time)?.key ?? ""
            return "\(key) comes before it, is final, and is sent to everybody whom this rule is for"
        case .onWithoutLockout, .partlyWithoutLockout:
            let closed = places(of: rule).filter { !hasWayOut($0, of: rule, at: time) }.map(\.name)
            if closed.isEmpty { return "no release is recorded" }
            let more = closed.count > Self.mostNames ? " and \(closed.count - Self.mostNames) more" : ""
            return "no way out on \(closed.prefix(Self.mostNames).joined(separator: ", "))\(more)"
        }
    }

    /// What is in the way of the release that comes first of those that reach the target.
    private func missingRelease(_ rule: Conditions, at time: Timestamp) -> String {
        let awaited = targeted(rule).filter { !$0.release.row.isWithdrawn(at: time) }.map { platform, release in
            let (order, text) = obstacle(release, rule, at: time)
            return (order: order, release: release, text: "\(release.row.label) on \(platform) \(text)")
        }
        let first = awaited.min { left, right in
            left.order == right.order ? JudgedRelease.isBefore(left.release, right.release) : left.order < right.order
        }
        let platforms = rule.row.platforms.map { " on \($0.joined(separator: ", "))" } ?? ""
        return first?.text ?? "no release reaches \(rule.row.target ?? "")\(platforms)"
    }

    private func obstacle(
        _ release: JudgedRelease,
        _ rule: Conditions,
        at time: Timestamp
    ) -> (order: (Int, Timestamp), text: String) {
        let liveAt: Timestamp
        switch release.row.state(at: time) {
        case .staged: return ((2, .latest), "is staged")
        case .noDate: return ((3, .latest), "has no date")
        case .withdrawn: return ((4, .latest), "is withdrawn")
        case .live(let date), .comes(let date): liveAt = date
        }
        if !isForRegions(release, rule) { return ((4, .latest), "is not for its regions") }
        if !isForSystems(release, rule) { return ((4, .latest), "is not for its systems") }
        let soaked = liveAt.advanced(byMicroseconds: rule.row.soakMicroseconds)
        if let withdrawnAt = release.row.withdrawnAt, withdrawnAt <= soaked {
            return ((4, .latest), "is withdrawn before it has soaked")
        }
        if liveAt <= time { return ((1, soaked), "is live, and its soak ends at \(soaked)") }
        let soaks = rule.row.soakMicroseconds > 0 ? ", and its soak ends at \(soaked)" : ""
        return ((1, soaked), "goes live at \(liveAt)\(soaks)")
    }
}
