final class RuleGroup: Sendable {
    /// The rows of all rules of the group in the order of their messages, also of those that reach nobody.
    let rows: [Rule]

    /// The rules in the same order, so that sorting the numbers of those that match sorts the messages.
    let rules: [CompiledRule]

    let pools: RulePools
    let scales: RuleScales

    /// What those count in an announcement that can reach anybody at some time.
    let announcementCost: Int

    let finalRules: [UInt32]
    let lockoutRules: [UInt32]

    /// How many of them can reach anybody.
    let reachableCount: Int

    /// The rules by what they accept: each value of each attribute, and each language of a long list.
    let rulesByValue: HashIndex

    /// Whether a rule has so long a list of languages, or values, that they are not to be compared one by one.
    let hasLongLists: Bool

    /// `nil` where each rule names its platforms.
    private let anyPlatform: RuleIndex?
    private let platforms: [Int32]
    private let byPlatform: [RuleIndex]

    init(_ rows: [Rule], _ rules: [CompiledRule], _ pools: RulePools, _ scales: RuleScales) {
        self.rows = rows
        self.rules = rules
        self.pools = pools
        self.scales = scales
        var anyPlatform: [UInt32] = []
        var byPlatform: [Int32: [UInt32]] = [:]
        var announcementCost = 0
        var finalRules: [UInt32] = []
        var reachableCount = 0
        var values: [(hash: UInt64, rule: UInt32)] = []
        var hasLongLists = false
        for (index, rule) in rules.enumerated() where Self.canReachAnybody(rule, pools) {
            let index = UInt32(truncatingIfNeeded: index)
            announcementCost += max(1, rule.versions.indices.count) + pools.size(ofOtherConditions: rule) / 1_024
            if rule.flags.contains(.final) { finalRules.append(index) }
            reachableCount += 1
            for attribute in pools.attributes[rule.attributes.indices] {
                if attribute.values.count > 8 { hasLongLists = true }
                values += attribute.values.map { value in
                    (HashIndex.hash(attribute: attribute.name, value: value, seed: pools.hashSeed), index)
                }
            }
            if rule.languages.isLong {
                hasLongLists = true
                values += pools.languages[rule.languages.indices].map { language in
                    (HashIndex.hash(language: language, seed: pools.hashSeed), index)
                }
            }
            if rule.platforms.isEmpty { anyPlatform.append(index) }
            for platform in pools.platforms[rule.platforms.indices] { byPlatform[platform, default: []].append(index) }
        }
        self.announcementCost = announcementCost
        self.finalRules = finalRules
        self.reachableCount = reachableCount
        rulesByValue = HashIndex(values)
        self.hasLongLists = hasLongLists
        lockoutRules = rows.indices.filter { rows[$0].lockout && rows[$0].enabled }
            .map { UInt32(truncatingIfNeeded: $0) }
        self.anyPlatform = anyPlatform.isEmpty ? nil : RuleIndex(anyPlatform, rules, pools, scales)
        let sorted = byPlatform.sorted { $0.key < $1.key }
        platforms = sorted.map(\.key)
        self.byPlatform = sorted.map { RuleIndex($0.value, rules, pools, scales) }
    }

    private static func canReachAnybody(_ rule: CompiledRule, _ pools: RulePools) -> Bool {
        rule.flags.contains(.enabled)
            && (rule.rollout > 0 || pools.steps[rule.steps.indices].contains { $0.rollout > 0 })
    }

    /// Appends every rule that may match; one may be appended twice.
    func appendCandidates(for client: borrowing Client, _ facts: CheckFacts, to numbers: inout IndexList) {
        anyPlatform?.appendCandidates(for: client, facts, on: scales, to: &numbers)
        guard facts.platform >= 0, let index = index(ofPlatform: facts.platform) else { return }
        byPlatform[index].appendCandidates(for: client, facts, on: scales, to: &numbers)
    }

    @inline(__always)
    private func index(ofPlatform platform: Int32) -> Int? {
        let index = platforms.indices.partitioningIndex { platforms[$0] >= platform }
        return index < platforms.count && platforms[index] == platform ? index : nil
    }
}
