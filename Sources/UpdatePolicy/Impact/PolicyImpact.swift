// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The impact that an edit of the policy would have had on the counted checks.
///
/// The whole policies are compared, not the rows that differ: a rule behind a final one, or of a paused app, does
/// nothing, and an edit that removes such an obstacle makes the rule effective. They are compared at the same times, now
/// and whenever something begins or ends, so what other rules plan is not taken for the impact of the edit.
public struct PolicyImpact: Sendable {
    /// The impact on the clients of one app, version and platform.
    public struct Row: Sendable {
        /// The clients.
        public let group: ClientGroup
        /// Their number of checks.
        public internal(set) var checks: Int64 = 0
        /// Right after the edit.
        public internal(set) var now = ImpactCounts()
        /// Checks that are newly locked out, now or at some time later.
        public internal(set) var newLockouts = 0.0
    }

    /// The impact on the app in which the largest part is newly locked out.
    public struct LargestLockout: Sendable {
        /// The app.
        public let bundle: String
        /// The number of checks of its clients.
        public let checks: Int64
        /// Who is newly locked out right after the edit.
        public let now: Double
        /// When most are; nil where that is now.
        public let later: ImpactStep?

        /// The largest part, 0 to 1, now or later.
        public var share: Double { checks == 0 ? 0 : (later?.checks ?? now) / Double(checks) }
    }

    /// By app, platform and version.
    public let rows: [Row]

    /// The times after now at which more checks are newly locked out than at any time before.
    public let laterLockouts: [ImpactStep]

    /// The times after now at which more checks get a message by the edit than at any time before.
    public let laterMessages: [ImpactStep]

    /// The app with the largest share of newly locked out checks; nil without checks.
    public let largestLockout: LargestLockout?

    /// The conditions that matter and are not counted.
    public let uncounted: Set<UncountedCondition>

    /// The conditions, not counted, of rules that the edit leaves alone: these rules are in no figure of who gets a message
    /// or is locked out before and after.
    public let leftOut: Set<UncountedCondition>

    /// Judges an edit.
    ///
    /// - Parameters:
    ///   - before: The policy as it is.
    ///   - after: The policy as it would be.
    ///   - clients: The clients that made checks.
    ///   - time: Now.
    public init(
        from before: CompiledPolicy,
        to after: CompiledPolicy,
        clients: some Sequence<WeightedClient>,
        at time: Timestamp
    ) {
        var rows: [ClientGroup: Row] = [:]
        var uncounted: Set<UncountedCondition> = []
        var leftOut: Set<UncountedCondition> = []
        var lockouts = ImpactCurve()
        var messages = ImpactCurve()
        var lockoutsOfApps: [String: ImpactCurve] = [:]
        for client in clients {
            let group = ClientGroup(client.client)
            let impact = ClientImpact(before, after, client.client, at: time)
            uncounted.formUnion(impact.uncounted)
            leftOut.formUnion(impact.leftOut)
            lockouts.add(impact.lockouts, times: client.checks)
            messages.add(impact.messages, times: client.checks)
            lockoutsOfApps[group.bundle, default: ImpactCurve()].add(impact.lockouts, times: client.checks)
            var row = rows[group] ?? Row(group: group)
            row.checks += client.checks
            row.now += impact.now.times(client.checks)
            row.newLockouts += (impact.lockouts.map(\.part).max() ?? 0) * Double(client.checks)
            rows[group] = row
        }
        self.rows = rows.values.sorted { $0.group < $1.group }
        self.uncounted = uncounted
        self.leftOut = leftOut
        laterLockouts = lockouts.steps.filter { $0.at > time }
        laterMessages = messages.steps.filter { $0.at > time }
        largestLockout = Dictionary(grouping: self.rows, by: \.group.bundle).map { bundle, rows in
            LargestLockout(
                bundle: bundle,
                checks: rows.reduce(0) { $0 + $1.checks },
                now: rows.reduce(0) { $0 + $1.now.newLockouts },
                later: lockoutsOfApps[bundle]?.steps.last { $0.at > time }
            )
        }.max { ($0.share, $1.bundle) < ($1.share, $0.bundle) }
    }

    /// The number of checks that were judged.
    public var checks: Int64 { rows.reduce(0) { $0 + $1.checks } }

    /// The messages and lockouts of all of them right after the edit.
    public var now: ImpactCounts { rows.reduce(into: ImpactCounts()) { $0 += $1.now } }

    /// Who is newly locked out, now or at the time when most are.
    public var newLockouts: Double { laterLockouts.last?.checks ?? now.newLockouts }
}
