/// The impact that an edit of the policy would have had on the counted checks.
///
/// The whole policies are compared, not the rows that differ: a rule behind a final one, or of a paused app, does
/// nothing, and an edit that removes such an obstacle makes the rule effective. They are compared at the same times, now
/// and whenever something begins or ends, so what other rules plan is not taken for the impact of the edit.
package struct PolicyImpact: Sendable {
    package struct Row: Sendable {
        package let group: ClientGroup
        package internal(set) var checks: Int64 = 0
        package internal(set) var now = ImpactCounts()
        /// Checks that are newly locked out, now or at some time later.
        package internal(set) var newLockouts = 0.0
    }

    /// The impact on the app in which the largest part is newly locked out.
    package struct LargestLockout: Sendable {
        package let bundle: String
        package let checks: Int64
        package let now: Double
        /// When most are; nil where that is now.
        package let later: ImpactStep?

        package var share: Double { checks == 0 ? 0 : (later?.checks ?? now) / Double(checks) }

        package var shareNow: Double { checks == 0 ? 0 : now / Double(checks) }
    }

    package let rows: [Row]

    /// The times after now at which more checks are newly locked out than at any time before.
    package let laterLockouts: [ImpactStep]

    /// The times after now at which more checks get a message by the edit than at any time before.
    package let laterMessages: [ImpactStep]

    /// The app with the largest share of newly locked out checks; nil without checks.
    package let largestLockout: LargestLockout?

    package let largestLockoutNow: LargestLockout?
    package let uncounted: Set<Condition>

    /// The conditions, not counted, of rules that the edit leaves alone: these rules are in no figure of who gets a message
    /// or is locked out before and after.
    package let leftOut: Set<Condition>

    /// Judges an edit.
    package init(
        from before: CompiledPolicy,
        to after: CompiledPolicy,
        clients: some Sequence<WeightedClient>,
        at time: Timestamp
    ) {
        var rows: [ClientGroup: Row] = [:]
        var uncounted: Set<Condition> = []
        var leftOut: Set<Condition> = []
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
        let lockoutOfApps = Dictionary(grouping: self.rows, by: \.group.bundle).map { bundle, rows in
            LargestLockout(
                bundle: bundle, checks: rows.reduce(0) { $0 + $1.checks },
                now: rows.reduce(0) { $0 + $1.now.newLockouts },
                later: lockoutsOfApps[bundle]?.steps.last { $0.at > time }
            )
        }
        largestLockout = lockoutOfApps.max { ($0.share, $1.bundle) < ($1.share, $0.bundle) }
        largestLockoutNow = lockoutOfApps.max { ($0.shareNow, $1.bundle) < ($1.shareNow, $0.bundle) }
    }

    package var checks: Int64 { rows.reduce(0) { $0 + $1.checks } }

    /// The messages and lockouts of all of them right after the edit.
    package var now: ImpactCounts { rows.reduce(into: ImpactCounts()) { $0 += $1.now } }

    /// Who is newly locked out, now or at the time when most are.
    package var newLockouts: Double { laterLockouts.last?.checks ?? now.newLockouts }
}
