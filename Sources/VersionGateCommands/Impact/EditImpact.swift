import PolicyStore
import UpdatePolicy

/// The effect that an edit would have on recent checks, and whether the edit needs approval.
///
/// It compares two policies, so the origin of the second does not matter: an edit that was rolled back, or a file that was
/// not applied.
struct EditImpact: Sendable {
    /// The comparison; nothing is known from it where no checks were counted.
    let impact: PolicyImpact
    /// The apps in which lockouts may be added, by the rows alone.
    let lockouts: AppsWithNewLockouts
    /// The counts that it was judged by.
    let recent: RecentChecks
    /// Pre-releases among the checks whose numbers are those of a release.
    let preReleases: [PreReleaseMatch]

    /// The key of the one lockout that the edit adds without a fuse; nil where it adds none, or several.
    let lockoutWithoutFuse: String?
    /// When it was judged.
    let time: Timestamp

    /// The largest share of recent checks that may be newly locked out without approval.
    static let approvalThreshold = 0.01

    /// Judges an edit.
    ///
    /// - Parameters:
    ///   - before: The policy, or the part of it for the affected apps.
    ///   - after: The same after the edit.
    ///   - recent: The counts of these apps.
    ///   - time: Now.
    /// - Throws: `PolicyError` if one of the policies cannot be compiled.
    init(from before: Policy, to after: Policy, recent: RecentChecks, at time: Timestamp) throws(PolicyError) {
        impact = PolicyImpact(
            from: try CompiledPolicy(Self.whatDecides(before, recent)),
            to: try CompiledPolicy(Self.whatDecides(after, recent)), clients: recent.clients, at: time
        )
        lockouts = AppsWithNewLockouts(from: before, to: after, at: time)
        self.recent = recent
        preReleases = PreReleaseMatch.matches(among: recent.clients, releases: after.releases)
        lockoutWithoutFuse = Self.lockoutWithoutFuse(before, after)
        self.time = time
    }

    private static func lockoutWithoutFuse(_ before: Policy, _ after: Policy) -> String? {
        let known = Set(before.rules.filter { $0.enabled && $0.lockout }.map(\.key))
        let added = after.rules.filter { $0.enabled && $0.lockout && !known.contains($0.key) }
        return added.count == 1 && added[0].fuse == nil ? added[0].key : nil
    }

    /// A policy without the rules and texts that make no difference, which compiles faster.
    private static func whatDecides(_ policy: Policy, _ recent: RecentChecks) -> Policy {
        var policy = policy
        policy.rules = recent.isEmpty ? [] : policy.rules.filter(\.enabled)
        for index in policy.rules.indices { policy.rules[index].texts = [] }
        return policy
    }

    /// Why the edit needs approval; nil where it does not.
    var approvalReason: String? {
        if !recent.isKnown, !lockouts.isEmpty {
            return "this may lock somebody out, and the counts of checks could not be read, which would say how many"
        }
        if let largest = impact.largestLockout, largest.share > Self.approvalThreshold {
            let whole = Double(largest.checks)
            let isLater = largest.now == 0
            let first = isLater ? largest.later?.checks ?? 0 : largest.now
            let later = largest.later.map { step in
                (isLater ? "" : ", and up to \(NumberText.share(step.checks, of: whole))") + Self.when(step)
            }
            // What is so at once is said first, also where another app is worse off later.
            let present = impact.largestLockoutNow.flatMap { now in
                now.bundle != largest.bundle && now.shareNow > Self.approvalThreshold && now.shareNow > largest.shareNow
                    ? "\(NumberText.share(now.now, of: Double(now.checks))) of the recent checks of \(now.bundle.visible()) at once, and"
                        + " up to " : nil
            }
            return
                "this would newly lock out up to \(present ?? "")\(NumberText.share(first, of: whole)) of the recent checks of"
                + " \(largest.bundle.visible())\(later ?? "")"
        }
        if let bundle = appsWithoutCounts.first {
            return "this may lock somebody out, and no checks of \(bundle) were counted in the last \(recent.days) days"
                + " that would say how many"
        }
        if lockouts.everyApp, recent.isEmpty {
            return
                "this may lock somebody out, and no checks were counted in the last \(recent.days) days that would say"
                + " how many"
        }
        if let merged = mergedChecks {
            return
                "this may lock somebody out, and \(NumberText.percent(merged.share, of: 1)) of the checks of"
                + " \(merged.bundle) in the last \(recent.days) days came from too many kinds of clients to count separately"
        }
        return nil
    }

    /// A fuse for the lockout that the edit adds; nil where it has one, or where it is not known what to expect.
    var fuseProposal: Sentence? {
        guard let key = lockoutWithoutFuse, let largest = impact.largestLockout,
            Double(largest.checks) >= NumberText.fewestJudged
        else { return nil }
        let percent = max(1, Int((200 * largest.share).rounded(.up)))
        guard largest.share > 0, percent < 100 else { return nil }
        return
            "\(key) has no fuse; to have it stopped at twice what is expected, give it one afterwards: \(command: "rule edit \(key) --fuse \(percent)%")"
    }

    /// From when on something is so, and by which rules: ` from 2026-11-28T02:00:00Z by maintenance`.
    static func when(_ step: ImpactStep) -> String {
        " from \(TimeText.local(step.at))"
            + (step.rules.isEmpty ? "" : " by \(step.rules.joined(separator: " and ").visible())")
    }

    /// The app with a possible lockout and the largest share of merged checks; nil where the share is small.
    private var mergedChecks: MergedChecks? {
        recent.merged.filter { merged in
            lockouts.everyApp || lockouts.bundles.contains { $0 == ASCII.lowercased(merged.bundle) }
        }.filter { $0.share > Self.approvalThreshold }.max { $0.share < $1.share }
    }

    /// Apps in which somebody may be locked out and of which no checks were counted.
    private var appsWithoutCounts: [String] {
        lockouts.bundles.subtracting(impact.rows.map(\.group.bundle)).sorted()
    }
}

extension EditImpact {
    init(of reach: DryRun.Reach) throws(PolicyError) {
        try self.init(from: reach.before, to: reach.after, recent: reach.checks, at: reach.time)
    }
}
