final class RuleGroup: Sendable {
    /// The rows of all rules of the group in the order of their messages, also of those that reach nobody.
    let rows: [Rule]

    /// The rules in the same order, so that sorting the numbers of those that match sorts the messages.
    let rules: [CompiledRule]

    let pools: RulePools
    let scales: RuleScales
    let lockoutRules: [UInt32]

    /// The rules that can reach anybody, those first whose versions end last.
    let gates: [RuleGate]

    init(_ rows: [Rule], _ rules: [CompiledRule], _ pools: RulePools, _ scales: RuleScales) {
        self.rows = rows
        self.rules = rules
        self.pools = pools
        self.scales = scales
        lockoutRules = rows.indices.filter { rows[$0].lockout && rows[$0].enabled }
            .map { UInt32(truncatingIfNeeded: $0) }
        gates = rules.indices.compactMap { RuleGate(rules[$0], number: $0, pools) }.sorted { $1.last < $0.last }
    }
}

/// What of a rule a check compares first: it drops most rules that it does not meet at the cost of some instructions each.
///
/// With three rules, for `<1.1`, for `>=1.0 <1.3` and for all, a client with 1.2 does not look at the first, because the
/// rules are sorted by where their versions end; one with 0.9 drops the second by where they begin.
struct RuleGate: Sendable {
    /// The least rank of versions that it reaches, and the greatest one: that of what cannot be read where it asks for none.
    let first: UInt32
    let last: UInt32

    /// The traits that keep clients from it, a bit each; two may share one.
    let refused: UInt32

    let rule: UInt32

    /// `nil` where the rule can reach nobody at any time.
    init?(_ rule: CompiledRule, number: Int, _ pools: RulePools) {
        guard rule.flags.contains(.enabled),
            rule.rollout > 0 || pools.steps[rule.steps.indices].contains(where: { $0.rollout > 0 })
        else { return nil }
        let versions = pools.intervals[rule.versions.indices]
        let end = min(versions.last?.upper ?? .max, rule.targetRank)
        first = versions.first?.lower ?? 0
        guard first < end else { return nil }
        last = versions.isEmpty && !rule.flags.contains(.hasTarget) ? RankInterval.unreadable : end - 1
        let accepted = pools.platforms[rule.platforms.indices].reduce(0) { $0 | Self.trait(ofPlatform: $1) }
        let attributes = pools.attributes[rule.attributes.indices].reduce(0) { $0 | Self.trait(ofLacking: $1.name) }
        refused = (accepted == 0 ? 0 : Self.everyPlatform & ~accepted) | attributes
        self.rule = UInt32(truncatingIfNeeded: number)
    }

    /// The traits of a client that sent no platform.
    static let everyPlatform: UInt32 = 0x0000_FFFF
    /// Those of a client that sent no attribute that a rule asks for.
    static let everyAttribute: UInt32 = 0xFFFF_0000

    @inline(__always)
    static func trait(ofPlatform platform: Int32) -> UInt32 { 1 &<< UInt32(truncatingIfNeeded: platform & 15) }

    /// The trait of lacking the attribute whose name has an index.
    @inline(__always)
    static func trait(ofLacking attribute: Int) -> UInt32 {
        1 &<< UInt32(truncatingIfNeeded: 16 &+ attribute & 15)
    }
}
