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

    /// The enabled rules that reach nobody but who asks for a check: their rollout is 0 at any time.
    let rulesOfNobody: [UInt32]

    init(_ rows: [Rule], _ rules: [CompiledRule], _ pools: RulePools, _ scales: RuleScales) {
        (self.rows, self.rules, self.pools, self.scales) = (rows, rules, pools, scales)
        lockoutRules = rows.indices.filter { rows[$0].lockout && rows[$0].enabled }
            .map { UInt32(truncatingIfNeeded: $0) }
        rulesOfNobody = rules.indices
            .filter { rules[$0].flags.contains(.enabled) && !RuleGate.canReachAnybody(rules[$0], pools) }
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

    /// The traits that keep clients from it, as ``ClientTraits`` has them.
    let refused: UInt64

    let rule: UInt32

    /// `nil` where the rule can reach nobody at any time.
    init?(_ rule: CompiledRule, number: Int, _ pools: RulePools) {
        guard rule.flags.contains(.enabled), Self.canReachAnybody(rule, pools) else { return nil }
        let versions = pools.intervals[rule.versions.indices]
        let end = min(versions.last?.upper ?? .max, rule.targetRank)
        first = versions.first?.lower ?? 0
        guard first < end else { return nil }
        last = versions.isEmpty && !rule.flags.contains(.hasTarget) ? RankInterval.unreadable : end - 1
        refused = ClientTraits.refused(by: rule, pools)
        self.rule = UInt32(truncatingIfNeeded: number)
    }
}

extension RuleGate {
    /// Whether the rollout of a rule is above 0 at any time.
    static func canReachAnybody(_ rule: CompiledRule, _ pools: RulePools) -> Bool {
        rule.rollout > 0 || pools.steps[rule.steps.indices].contains { $0.rollout > 0 }
    }
}

/// What of a client may keep it from a rule, a bit each; two platforms, attributes or regions may share one.
enum ClientTraits {
    static let everyPlatform: UInt64 = 0xFFFF
    static let everyAttribute: UInt64 = 0xFFFF << 16
    static let everyRegion: UInt64 = 0x7FFF_FFFF << 32
    static let noLanguage: UInt64 = 1 << 63

    @inline(__always)
    static func platform(_ number: Int32) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: number & 15) }

    /// That it lacks the attribute whose name has an index.
    @inline(__always)
    static func lacksAttribute(_ name: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: 16 &+ name & 15) }

    @inline(__always)
    static func region(_ letters: UInt16) -> UInt64 { 1 &<< UInt64(32 &+ letters % 31) }

    static func refused(by rule: CompiledRule, _ pools: RulePools) -> UInt64 {
        let platforms = pools.platforms[rule.platforms.indices].reduce(0) { $0 | platform($1) }
        let regions = pools.regions[rule.regions.indices].reduce(0) { $0 | region($1) }
        let attributes = pools.attributes[rule.attributes.indices].lazy.filter { $0.onlyValue != CompiledAttribute.not }
            .reduce(0) { $0 | lacksAttribute(Int($1.name)) }
        return (platforms == 0 ? 0 : everyPlatform & ~platforms) | (regions == 0 ? 0 : everyRegion & ~regions)
            | attributes | (rule.languages.isEmpty ? 0 : noLanguage)
    }
}
