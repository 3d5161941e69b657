// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension RuleGroup {
    /// Whether a rule is met by a client of which not everything is known, its version, target and offers apart.
    func certainty(
        of number: Int,
        _ client: Client,
        _ system: ClientSystem,
        _ facts: CheckFacts
    ) -> Certainty {
        let rule = rules[number]
        guard rule.flags.contains(.enabled), rule.startsAt <= facts.time, facts.time < rule.endsAt else {
            return .never
        }
        var certainty = rolloutCertainty(of: number, client, at: facts.time)
        if !rule.platforms.isEmpty {
            let isMet = pools.platforms[rule.platforms.indices].contains(facts.platform)
            certainty = min(certainty, client.platformText == nil ? .possible : Certainty(isMet))
        }
        if certainty == .never { return .never }
        if !rule.builds.isEmpty {
            let isMet = pools.intervals[rule.builds.indices].contains { $0.contains(facts.buildRank) }
            certainty = min(certainty, client.buildText == nil ? .possible : Certainty(isMet))
        }
        if !rule.os.isEmpty {
            certainty = min(certainty, system.certainty(in: intervals(rule.os, on: scales.os)))
        }
        if !rule.regions.isEmpty {
            let isMet = pools.regions[rule.regions.indices].contains(facts.region)
            certainty = min(certainty, client.regionText == nil ? .possible : Certainty(isMet))
        }
        if !rule.languages.isEmpty {
            let isMet = client.language.map { language in
                pools.languages[rule.languages.indices].contains { language.matches($0) }
            }
            certainty = min(certainty, isMet.map { Certainty($0) } ?? .possible)
        }
        for attribute in pools.attributes[rule.attributes.indices] {
            let isMet = client.attribute(attribute.name).map(attribute.values.contains)
            certainty = min(certainty, isMet.map { Certainty($0) } ?? .possible)
        }
        return certainty
    }

    private func rolloutCertainty(of number: Int, _ client: Client, at time: Int64) -> Certainty {
        let rollout = rollout(of: rules[number], at: time)
        if rollout >= 10_000 { return .certain }
        if rollout == 0 { return .never }
        guard let install = client.install else { return .possible }
        return Certainty(Bucket(key: rows[number].key, install: install).number < Int(rollout))
    }

    /// The versions in the range of a rule and below its target, sorted; `nil` where it has neither.
    func versions(of number: Int) -> [VersionInterval]? {
        let rule = rules[number]
        guard rule.flags.contains(.hasTarget) else {
            return rule.versions.isEmpty ? nil : intervals(rule.versions, on: scales.versions)
        }
        let target = VersionInterval(lower: .minimum, upper: pools.targets[Int(rule.target)])
        let range = rule.versions.isEmpty ? [.all] : intervals(rule.versions, on: scales.versions)
        return range.compactMap { interval in
            var interval = interval
            interval.formIntersection(target)
            return interval.isEmpty ? nil : interval
        }
    }

    /// The intervals of a condition, as versions.
    private func intervals(_ run: PoolRange, on scale: VersionScale) -> [VersionInterval] {
        pools.intervals[run.indices].map { scale.versions(of: $0) }
    }
}
