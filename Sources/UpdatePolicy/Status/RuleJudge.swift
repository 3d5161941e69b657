// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The one judge of what is so about the rules of a policy.
///
/// Whatever the clock changes about a rule is a set of times here, so that one look tells its status at a moment, since
/// when it has it and what comes next.
struct RuleJudge {
    /// Where a rule locks out.
    private struct Place {
        /// The app, in a rule for every app.
        let bundle: String?
        let platform: String
        /// The region, in a rule for some.
        let region: String?

        var name: String {
            platform + (region.map { " in \($0)" } ?? "") + (bundle.map { " of \($0)" } ?? "")
        }
    }

    /// The times at which something holds of a rule.
    private struct Facts {
        let rule: Rule
        let isPaused: Bool
        /// When a release reaches the target.
        let reached: TimeSpans
        /// When a rule before it is final for everybody, by that rule's key, in the order of the messages.
        let hidden: [(key: String, times: TimeSpans)]
        /// Where it locks out, and when somebody there has a way out; `nil` where none is needed.
        let ways: [(place: Place, times: TimeSpans)]?
        private let hiddenTimes: TimeSpans
        private let anywhere: TimeSpans
        private let everywhere: TimeSpans

        init(
            _ rule: Rule,
            isPaused: Bool,
            reached: TimeSpans,
            hidden: [(key: String, times: TimeSpans)],
            ways: [(place: Place, times: TimeSpans)]?
        ) {
            (self.rule, self.isPaused, self.reached, self.hidden, self.ways) = (rule, isPaused, reached, hidden, ways)
            hiddenTimes = hidden.reduce(.never) { $0.union($1.times) }
            anywhere = ways?.reduce(.never) { $0.union($1.times) } ?? .always
            everywhere = ways?.reduce(anywhere) { $0.intersection($1.times) } ?? .always
        }

        func name(at time: Timestamp) -> RuleStatus.Name {
            if !rule.enabled { return .disabled }
            if let end = rule.endsAt, end <= time { return .ended }
            if isPaused { return .paused }
            if let start = rule.startsAt, time < start { return .scheduled }
            if !reached.contains(time) || rule.rollout(at: time) == .zero { return .waiting }
            if hiddenTimes.contains(time) { return .hidden }
            if everywhere.contains(time) { return .on }
            return anywhere.contains(time) ? .partlyWithoutLockout : .onWithoutLockout
        }

        /// What changes count: the name, and the rollout while messages are sent.
        private func state(at time: Timestamp) -> (RuleStatus.Name, Percentage?) {
            let name = name(at: time)
            return (name, name.isSent ? rule.rollout(at: time) : nil)
        }

        func changes(around time: Timestamp) -> (since: Timestamp?, next: Timestamp?) {
            let moments =
                [rule.startsAt, rule.endsAt].compactMap(\.self) + rule.effectiveSteps.map(\.at)
                + [reached, hiddenTimes, anywhere, everywhere].flatMap(\.bounds)
            var since: Timestamp?
            var state = state(at: .earliest)
            for moment in Set(moments).sorted() {
                let new = self.state(at: moment)
                guard new != state else { continue }
                if moment > time { return (since, moment) }
                (since, state) = (moment, new)
            }
            return (since, nil)
        }
    }

    private let apps: [App]
    private let pausedBundles: Set<String>
    /// By bundle in lower case, then by platform.
    private var releases: [String: [String: PlatformReleases]] = [:]
    /// The enabled final rules without a target, in the order of the messages.
    private let finals: [JudgedRule]

    init(_ policy: Policy) {
        apps = policy.apps.sorted { UTF8Text($0.bundle) < UTF8Text($1.bundle) }
        pausedBundles = Set(policy.apps.filter(\.paused).map { ASCII.lowercased($0.bundle) })
        for (bundle, rows) in Dictionary(grouping: policy.releases, by: { ASCII.lowercased($0.bundle) }) {
            releases[bundle] = Dictionary(grouping: rows) { Platform($0.platform).name }
                .mapValues { PlatformReleases($0) }
        }
        finals = policy.rules.filter { $0.enabled && $0.final && $0.target == nil }.sorted(by: Rule.precedes)
            .map { JudgedRule($0) }
    }

    mutating func status(of row: Rule, at time: Timestamp) -> RuleStatus {
        let rule = JudgedRule(row)
        let facts = facts(of: rule)
        let name = facts.name(at: time)
        let changes = facts.changes(around: time)
        return RuleStatus(
            key: row.key,
            name: name,
            since: changes.since,
            next: changes.next,
            rollout: row.rollout(at: time),
            reason: reason(name, rule, facts, at: time)
        )
    }

    private mutating func facts(of rule: JudgedRule) -> Facts {
        let row = rule.row
        let isGuarded = row.enabled && row.lockout && !row.lockoutWithoutUpdate
        return Facts(
            row,
            isPaused: rule.bundle.map(pausedBundles.contains) ?? false,
            reached: rule.target == nil
                ? .always : targetReleases(of: rule).reduce(.never) { $0.union($1.releases.reach(of: rule)) },
            hidden: finals.prefix { Rule.precedes($0.row, row) }.filter { $0.includes(rule) }
                .map { ($0.row.key, $0.timesForAll) },
            ways: isGuarded ? places(of: rule).map { ($0, waysOut(of: rule, in: $0)) } : nil
        )
    }

    /// The releases on the platforms of a rule with a target.
    private func targetReleases(of rule: JudgedRule) -> [(platform: String, releases: PlatformReleases)] {
        let here = rule.bundle.flatMap { releases[$0] } ?? [:]
        return here.filter { rule.platforms?.contains($0.key) ?? true }.map { ($0.key, $0.value) }
    }

    private func places(of rule: JudgedRule) -> [Place] {
        var places: [(bundle: String?, platform: String)] = []
        if let bundle = rule.bundle {
            places = (rule.platforms ?? platforms(of: bundle)).map { (nil, $0) }
        } else {
            for app in apps where !app.paused {
                let here = platforms(of: app.bundle)
                places += here.filter { rule.platforms?.contains($0) ?? true }.map { (app.bundle, $0) }
            }
            let known = Set(places.map(\.platform))
            places = (rule.platforms ?? []).filter { !known.contains($0) }.map { (nil, $0) } + places
        }
        let regions = rule.row.regions.map { Set($0).sorted { UTF8Text($0) < UTF8Text($1) }.map { Optional($0) } }
        return places.flatMap { place in
            (regions ?? [nil]).map { Place(bundle: place.bundle, platform: place.platform, region: $0) }
        }
    }

    private func platforms(of bundle: String) -> [String] {
        (releases[ASCII.lowercased(bundle)] ?? [:]).keys.sorted { UTF8Text($0) < UTF8Text($1) }
    }

    private mutating func waysOut(of rule: JudgedRule, in place: Place) -> TimeSpans {
        guard let bundle = (place.bundle ?? rule.row.bundle).map(ASCII.lowercased) else { return .never }
        return releases[bundle]?[place.platform]?.waysOut(of: rule, in: place.region) ?? .never
    }
}

extension RuleJudge {
    private static let mostNames = 20

    private func reason(_ name: RuleStatus.Name, _ rule: JudgedRule, _ facts: Facts, at time: Timestamp) -> String? {
        let reason = reasonOfStatus(name, rule, facts, at: time)
        guard name != .disabled, name != .ended, let since = rule.row.holdInForce(at: time) else { return reason }
        return [reason, "its steps are held since \(since)"].compactMap(\.self).joined(separator: "; ")
    }

    private func reasonOfStatus(
        _ name: RuleStatus.Name,
        _ rule: JudgedRule,
        _ facts: Facts,
        at time: Timestamp
    ) -> String? {
        switch name {
        case .disabled, .ended, .on: return nil
        case .paused: return "\(pausedBundle(of: rule)) is paused"
        case .scheduled: return rule.row.startsAt.map { "it starts at \($0)" }
        case .waiting:
            if !facts.reached.contains(time) { return missingRelease(rule, at: time) }
            let step = rule.row.effectiveSteps.filter { time < $0.at && $0.rollout > .zero }.min { $0.at < $1.at }
            return step.map { "the step to \($0.rollout) % comes at \($0.at)" } ?? "its rollout is 0 %"
        case .hidden:
            let key = facts.hidden.first { $0.times.contains(time) }?.key ?? ""
            return "\(key) comes before it, is final and is sent to everybody whom it is for"
        case .onWithoutLockout, .partlyWithoutLockout:
            let closed = (facts.ways ?? []).filter { !$0.times.contains(time) }.map(\.place.name)
            if closed.isEmpty { return "no release is recorded" }
            let more = closed.count > Self.mostNames ? " and \(closed.count - Self.mostNames) more" : ""
            return "no way out on \(closed.prefix(Self.mostNames).joined(separator: ", "))\(more)"
        }
    }

    private func pausedBundle(of rule: JudgedRule) -> String {
        apps.first { ASCII.lowercased($0.bundle) == rule.bundle }?.bundle ?? rule.row.bundle ?? ""
    }

    /// What is in the way of the release that comes first of those that reach the target.
    private func missingRelease(_ rule: JudgedRule, at time: Timestamp) -> String {
        let target = rule.target ?? .maximum
        var first: (order: (Int, Timestamp), release: JudgedRelease, text: String)?
        for (platform, here) in targetReleases(of: rule) {
            for release in here.releases where !(release.version < target) && !release.row.isWithdrawn(at: time) {
                let (order, text) = obstacle(release, rule, at: time)
                let isFirst = first.map { first in
                    order == first.order ? JudgedRelease.isBefore(release, first.release) : order < first.order
                }
                if isFirst ?? true { first = (order, release, "\(release.row.label) on \(platform) \(text)") }
            }
        }
        let platforms = rule.row.platforms.map { " on \($0.joined(separator: ", "))" } ?? ""
        return first?.text ?? "no release reaches \(rule.row.target ?? "")\(platforms)"
    }

    private func obstacle(
        _ release: JudgedRelease,
        _ rule: JudgedRule,
        at time: Timestamp
    ) -> (order: (Int, Timestamp), text: String) {
        let liveAt: Timestamp
        switch release.row.state(at: time) {
        case .staged: return ((2, .latest), "is staged")
        case .noDate: return ((3, .latest), "has no date")
        case .withdrawn: return ((4, .latest), "is withdrawn")
        case .live(let date), .comes(let date): liveAt = date
        }
        if !PlatformReleases.isForRegions(of: rule, release) { return ((4, .latest), "is not for its regions") }
        if !PlatformReleases.isForSome(of: rule, release) { return ((4, .latest), "is not for its systems") }
        let soaked = liveAt.advanced(byMicroseconds: rule.row.soakMicroseconds)
        if let withdrawnAt = release.row.withdrawnAt, withdrawnAt <= soaked {
            return ((4, .latest), "is withdrawn before it has soaked")
        }
        if liveAt <= time { return ((1, soaked), "is live and soaks until \(soaked)") }
        let soaks = rule.row.soakMicroseconds > 0 ? " and soaks until \(soaked)" : ""
        return ((1, soaked), "is live from \(liveAt) on\(soaks)")
    }
}
