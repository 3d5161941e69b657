// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The effect that an edit of the policy would have had on the counted checks.
///
/// The whole policies are compared, not the rows that differ: a rule behind a final one, or of a paused app, does
/// nothing, and an edit that removes such an obstacle makes the rule effective. Planned steps, starts, ends and
/// releases count as well as what is in force.
public struct PolicyImpact: Sendable {
    /// The effect on the clients of one app, version and platform.
    public struct Row: Sendable {
        /// The clients.
        public let group: ClientGroup
        /// How many checks they made.
        public internal(set) var checks: Int64 = 0
        /// At once.
        public internal(set) var now = AudienceEffect()
        /// At any time from now on: of each kind of client the largest count.
        public internal(set) var ahead = AudienceEffect()
    }

    /// By app, platform and version.
    public let rows: [Row]

    /// The conditions that matter and are not counted.
    public let uncounted: Set<UncountedCondition>

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
        for client in clients {
            let group = ClientGroup(client.client)
            let judgement = ImpactJudgement(before, after, client.client, at: time)
            uncounted.formUnion(judgement.uncounted)
            rows[group, default: Row(group: group)].checks += client.checks
            rows[group]?.now += judgement.now.times(client.checks)
            rows[group]?.ahead += judgement.ahead.times(client.checks)
        }
        self.rows = rows.values.sorted { $0.group < $1.group }
        self.uncounted = uncounted
    }

    /// How many checks were judged.
    public var checks: Int64 { rows.reduce(0) { $0 + $1.checks } }

    /// What all of them get at once.
    public var now: AudienceEffect { rows.reduce(into: AudienceEffect()) { $0 += $1.now } }

    /// What all of them get at any time from now on.
    public var ahead: AudienceEffect { rows.reduce(into: AudienceEffect()) { $0 += $1.ahead } }

    /// The app with the largest share of newly locked out checks, 0 to 1; nil without checks.
    public var largestNewLockout: (bundle: String, share: Double)? {
        Dictionary(grouping: rows, by: \.group.bundle).map { bundle, rows in
            let checks = rows.reduce(0) { $0 + $1.checks }
            return (bundle, checks == 0 ? 0 : rows.reduce(0) { $0 + $1.ahead.newLockouts } / Double(checks))
        }.max { ($0.share, $1.bundle) < ($1.share, $0.bundle) }
    }
}
