/// The apps in which an edit may lock out more clients, judged by the rows alone.
///
/// It is used where counts are missing. In doubt an app is included.
package struct AppsWithNewLockouts: Sendable, Equatable {
    package let everyApp: Bool

    /// The bundles of the affected apps, in lower case.
    package let bundles: Set<String>
    package var isEmpty: Bool { !everyApp && bundles.isEmpty }

    /// Compares two policies; both may be limited to the same apps.
    ///
    /// - Parameter time: Now; what ended before it does not count.
    package init(from before: Policy, to after: Policy, at time: Timestamp) {
        let rulesBefore = Dictionary(before.rules.map { ($0.key, $0) }) { first, _ in first }
        let rulesAfter = Dictionary(after.rules.map { ($0.key, $0) }) { first, _ in first }
        let lockouts = after.rules.filter { $0.lockout && $0.mayReachSomebody(from: time) }
        func lockoutsReaching(_ bundle: String) -> [Rule] {
            lockouts.filter { $0.bundle.map { ASCII.lowercased($0) == ASCII.lowercased(bundle) } ?? true }
        }
        // The apps of which some may be locked out; nil is every app.
        var affected = lockouts.filter { rule in
            guard let old = rulesBefore[rule.key], old.lockout, old.mayReachSomebody(from: time) else { return true }
            return !rule.reachesNoMore(than: old, from: time)
        }.map(\.bundle)
        for old in before.rules where old.final && old.mayReachSomebody(from: time) {
            if let rule = rulesAfter[old.key], rule.final, rule.hidesNoLess(than: old) { continue }
            affected += old.bundle.map { lockoutsReaching($0).isEmpty ? [] : [$0] } ?? lockouts.map(\.bundle)
        }
        let releasesDecideFinals = (before.rules + after.rules).contains { $0.final && $0.target != nil }
        let withOtherReleases = Self.bundlesWithOtherReleases(before, after, time).filter { bundle in
            lockoutsReaching(bundle).contains { releasesDecideFinals || !$0.lockoutWithoutUpdate || $0.target != nil }
        }
        let withOtherApps = Self.bundlesWithOtherApps(before, after).filter { !lockoutsReaching($0).isEmpty }
        everyApp = affected.contains(nil)
        bundles = Set((affected.compactMap(\.self) + withOtherReleases + withOtherApps).map(ASCII.lowercased))
    }

    /// The apps that differ in a column that decides lockouts. New, removed and newly paused apps are left out, because they
    /// lock nobody out.
    private static func bundlesWithOtherApps(_ before: Policy, _ after: Policy) -> [String] {
        let now = Dictionary(after.apps.map { (ASCII.lowercased($0.bundle), $0) }) { first, _ in first }
        return before.apps.compactMap { old in
            let bundle = ASCII.lowercased(old.bundle)
            // An app that is gone may have rules for every app, as one that is not paused.
            guard let new = now[bundle] else { return old.paused ? bundle : nil }
            return new.isLike(old, in: [.condition]) || new.paused ? nil : bundle
        }
    }

    /// The apps whose releases differ, without releases that nobody can get now or later.
    private static func bundlesWithOtherReleases(_ before: Policy, _ after: Policy, _ time: Timestamp) -> Set<String> {
        func obtainable(_ policy: Policy) -> [Int64: Release] {
            let releases = policy.releases.filter { release in
                switch release.state(at: time) {
                case .live, .comes: true
                case .staged, .noDate, .withdrawn: false
                }
            }
            return Dictionary(releases.map { ($0.id, $0) }) { first, _ in first }
        }
        let (old, new) = (obtainable(before), obtainable(after))
        let changed = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
        return Set(changed.flatMap { [old[$0], new[$0]].compactMap { $0?.bundle } })
    }
}

extension Rule {
    func mayReachSomebody(from time: Timestamp) -> Bool {
        guard enabled, endsAt.map({ time < $0 }) ?? true else { return false }
        return rollout > .zero || effectiveSteps.contains { $0.rollout > .zero }
    }

    /// Whether, from a time on, only clients are locked out that another form of the rule locks out as well.
    fileprivate func reachesNoMore(than old: Rule, from time: Timestamp) -> Bool {
        guard isLike(old, in: [.condition]), old.lockoutWithoutUpdate || !lockoutWithoutUpdate,
            position == old.position, final || !old.final
        else { return false }
        if let oldStart = old.startsAt, oldStart > time, startsAt.map({ $0 < oldStart }) ?? true { return false }
        if let oldEnd = old.endsAt, endsAt.map({ oldEnd < $0 }) ?? true { return false }
        let moments = (effectiveSteps + old.effectiveSteps).map(\.at).filter { $0 > time } + [time]
        return moments.allSatisfy { rollout(at: $0) <= old.rollout(at: $0) }
    }

    /// Whether the final rule keeps from others all that another form of it does.
    fileprivate func hidesNoLess(than old: Rule) -> Bool {
        enabled && isLike(old, in: [.condition]) && position == old.position && startsAt == old.startsAt
            && endsAt == old.endsAt && rollout == old.rollout && effectiveSteps == old.effectiveSteps
    }
}
