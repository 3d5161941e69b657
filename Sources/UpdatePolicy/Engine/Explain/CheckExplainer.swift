// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The telling of what became of each rule in one check.
///
/// What a rule does is judged by the same functions that answer checks; only the words are found here, from the rows.
struct CheckExplainer {
    private let client: Client
    private let app: CompiledApp?
    private let time: Timestamp
    private let platform: Int32
    private let rows: [ReleaseRow]
    private var finalKey: String?
    private var offers = OfferSearch(.lenient)
    private var waysOut = OfferSearch(.strict)

    /// A release of the client's app and platform, with the keys of its row.
    private struct ReleaseRow {
        let release: Release
        let version: VersionKey
        let build: VersionKey?
        let minOS: VersionKey?
    }

    /// What is told beside the outcome.
    private struct Reason {
        var condition: String
        var expected: String?
        var actual: String?
        var release: String?
        var unmet: Condition?
        var obstacle: ReleaseObstacle?
    }

    init(_ policy: CompiledPolicy, _ client: Client, _ app: CompiledApp?, _ time: Timestamp) {
        self.client = client
        self.app = app
        self.time = time
        let platform = policy.platformNumbers.number(of: client)
        self.platform = platform
        rows = Self.rows(app, client)
    }

    /// The releases of the client's app and platform in ascending order.
    private static func rows(_ app: CompiledApp?, _ client: Client) -> [ReleaseRow] {
        guard let app, let platform = client.platform else { return [] }
        return app.releaseRows
            .filter { UTF8Text(Platform($0.platform).name) == UTF8Text(platform.name) }
            .compactMap { release in
                AppVersion(release.version).map { version in
                    ReleaseRow(
                        release: release,
                        version: version.key,
                        build: release.build.flatMap { AppVersion($0)?.key },
                        minOS: release.minOS.flatMap { AppVersion($0)?.key }
                    )
                }
            }
            .sorted { left, right in
                if left.version != right.version { return left.version < right.version }
                if left.build != right.build {
                    guard let leftBuild = left.build, let rightBuild = right.build else { return left.build == nil }
                    return leftBuild < rightBuild
                }
                return left.release.id < right.release.id
            }
    }

    /// Tells what became of a rule; rules must be asked for in order.
    mutating func explain(_ number: Int, of group: RuleGroup) -> Explanation {
        let compiled = group.rules[number]
        let facts = CheckFacts(client, platform: platform, time: time.microsecondsSince1970, on: group.scales)
        if let condition = group.firstUnmetCondition(of: number, by: client, facts, app, &offers) {
            var reason = reason(number, of: group, condition)
            reason.unmet = condition
            return explanation(number, of: group, .noMatch, reason)
        }
        if let finalKey {
            return explanation(number, of: group, .afterAFinalRule, Reason(condition: "final", actual: finalKey))
        }
        if compiled.flags.contains(.final) { finalKey = group.rows[number].key }
        guard compiled.flags.contains(.needsWayOut) else {
            let offer = compiled.flags.contains(.hasTarget) ? offerLabel(compiled) : nil
            return explanation(number, of: group, .sent, nil, release: offer)
        }
        var reason = Reason(condition: "lockout", expected: "a way out")
        switch group.wayOut(of: compiled, client, app, platform, time.microsecondsSince1970, &waysOut) {
        case .open(let offer):
            return explanation(number, of: group, .sent, nil, release: label(offer))
        case .noOffer:
            reason.actual = "no offer"
        case .notAbove(let offer):
            reason.actual = "the offer is not above the client"
            reason.release = label(offer)
        case .matches(let offer):
            reason.actual = "the rule matches the offer"
            reason.release = label(offer)
        }
        reason.obstacle = obstacleOfWayOut(group.rows[number])
        return explanation(number, of: group, .sentWithoutLockout, reason)
    }

    private func explanation(
        _ number: Int,
        of group: RuleGroup,
        _ outcome: Explanation.Outcome,
        _ reason: Reason?,
        release: String? = nil
    ) -> Explanation {
        let rule = group.rows[number]
        return Explanation(
            position: rule.position,
            key: rule.key,
            outcome: outcome,
            condition: reason?.condition,
            expected: reason?.expected,
            actual: reason?.actual,
            bucket: bucket(rule),
            rollout: rollout(number, of: group),
            release: reason?.release ?? release,
            lockout: rule.lockout,
            unmet: reason?.unmet,
            obstacle: reason?.obstacle
        )
    }

    private func bucket(_ rule: Rule) -> Int? {
        client.install.map { Bucket(key: rule.key, install: $0).number }
    }

    private func rollout(_ number: Int, of group: RuleGroup) -> Percentage {
        let hundredths = group.rollout(of: group.rules[number], at: time.microsecondsSince1970)
        return Percentage(hundredths: Int(hundredths)) ?? .all
    }

    private func label(_ offer: Int) -> String? {
        guard let app, let list = app.releaseList(onPlatform: platform) else { return nil }
        return app.releaseRows[app.releases[list].releases[offer].row].label
    }

    private func offerLabel(_ rule: CompiledRule) -> String? {
        guard let app, let list = app.releaseList(onPlatform: platform) else { return nil }
        var offers = offers
        let (releases, now) = (app.releases[list], time.microsecondsSince1970)
        return offers.offer(among: releases, to: client, at: now, soak: rule.soak).flatMap(label)
    }
}

extension CheckExplainer {
    private func reason(_ number: Int, of group: RuleGroup, _ condition: Condition) -> Reason {
        let rule = group.rows[number]
        switch condition {
        case .platforms:
            return Reason(
                condition: "platforms",
                expected: rule.platforms?.joined(separator: ", "),
                actual: client.platformText?.string
            )
        case .versions:
            return Reason(condition: "versions", expected: rule.versions, actual: shownVersion)
        case .builds:
            return Reason(
                condition: "builds",
                expected: rule.builds,
                actual: Self.shown(client.buildText, client.buildKey)
            )
        case .os:
            return Reason(condition: "os", expected: rule.os, actual: Self.shown(client.osText, client.osKey))
        case .regions:
            return Reason(
                condition: "regions",
                expected: rule.regions?.joined(separator: ", "),
                actual: client.regionText?.string
            )
        case .languages:
            return Reason(
                condition: "languages",
                expected: rule.languages?.joined(separator: ", "),
                actual: client.language?.text
            )
        case .attributes:
            return attributeReason(number, of: group)
        case .targetReached:
            return Reason(
                condition: "target",
                expected: rule.target.map { "<\($0)" },
                actual: shownVersion
            )
        case .targetNotOffered:
            let obstacle = obstacleOfTarget(rule)
            return Reason(
                condition: "target",
                expected: rule.target.map { ">=\($0)" },
                actual: offerLabel(group.rules[number]),
                release: obstacle?.label,
                obstacle: obstacle
            )
        case .startsAt:
            return Reason(
                condition: "starts_at",
                expected: rule.startsAt.map { "from \($0)" },
                actual: time.description
            )
        case .endsAt:
            return Reason(
                condition: "ends_at",
                expected: rule.endsAt.map { "until \($0)" },
                actual: time.description
            )
        case .rollout:
            return Reason(
                condition: "rollout",
                expected: "bucket < \(rollout(number, of: group).hundredths)",
                actual: bucket(rule).map(String.init)
            )
        case .enabled:
            return Reason(condition: "enabled", expected: "true", actual: "false")
        case .paused:
            return Reason(condition: "paused", expected: "false", actual: "true")
        }
    }

    private var shownVersion: String? { Self.shown(client.versionText, client.versionKey) }

    /// A version of the client with a remark where it cannot be read; `nil` where it was not sent.
    private static func shown(_ version: UTF8Text?, _ key: VersionKey?) -> String? {
        version.map { key == nil ? "\($0) (cannot be read as a version)" : $0.string }
    }

    private func attributeReason(_ number: Int, of group: RuleGroup) -> Reason {
        guard let place = group.firstUnmetAttribute(group.rules[number], client) else {
            return Reason(condition: "attributes")
        }
        let attribute = group.pools.attributes[place]
        return Reason(
            condition: "attributes.\(attribute.name)",
            expected: attribute.values.map(\.string).joined(separator: ", "),
            actual: client.attribute(attribute.name)?.string
        )
    }

    /// The least release that could reach the rule's target, and why it does not yet.
    private func obstacleOfTarget(_ rule: Rule) -> ReleaseObstacle? {
        guard let target = rule.target.flatMap({ AppVersion($0) }) else { return nil }
        let awaited = rows.first { !($0.version < target.key) && !isWithdrawn($0) }
        return awaited.flatMap { obstacle($0, rule, .lenient) }
    }

    /// The least release that would be a way out of the rule's lockout, and why the client cannot get it.
    private func obstacleOfWayOut(_ rule: Rule) -> ReleaseObstacle? {
        let range = rule.versions.flatMap { try? VersionRange($0) }
        let target = rule.target.flatMap { AppVersion($0) }
        for row in rows where !isWithdrawn(row) && isAboveClient(row) {
            guard let version = AppVersion(row.release.version) else { continue }
            let matches = range?.contains(version) ?? (target == nil && rule.builds == nil)
            if matches && (target.map { version < $0 } ?? true) { continue }
            if let obstacle = obstacle(row, rule, .strict) { return obstacle }
        }
        return nil
    }

    private func isAboveClient(_ row: ReleaseRow) -> Bool {
        if let version = client.version { return row.release.isAbove(version, build: client.build) }
        guard let build = row.build, let clientBuild = client.buildKey else { return false }
        return clientBuild < build
    }

    private func isWithdrawn(_ row: ReleaseRow) -> Bool { row.release.withdrawnAt.map { $0 <= time } ?? false }

    private func obstacle(_ row: ReleaseRow, _ rule: Rule, _ judgement: ReleaseList.Judgement) -> ReleaseObstacle? {
        reason(row, rule, judgement).map { ReleaseObstacle(release: row.release.label, reason: $0) }
    }

    private func reason(
        _ row: ReleaseRow,
        _ rule: Rule,
        _ judgement: ReleaseList.Judgement
    ) -> ReleaseObstacle.Reason? {
        let release = row.release
        if release.staged { return .staged }
        guard let liveAt = release.liveAt else { return .noDate }
        if time < liveAt { return .liveFrom(liveAt) }
        if let regions = release.regions {
            let isMet = client.region.map { regions.contains($0.code) } ?? (judgement == .lenient)
            if !isMet { return .regions(regions) }
        }
        if let minOS = row.minOS, let text = release.minOS {
            let isMet = client.osKey.map { !($0 < minOS) } ?? (judgement == .lenient)
            if !isMet { return .os(text) }
        }
        let soaked = liveAt.advanced(byMicroseconds: rule.soakMicroseconds)
        return time < soaked ? .soaksUntil(soaked) : nil
    }
}

extension CompiledPolicy {
    /// What became of each rule for a client at a time, in the order of the messages.
    ///
    /// The rules are those of the client's app and those for every app, enabled or not.
    public func explain(_ client: Client, at time: Timestamp) -> [Explanation] {
        let app = app(of: client)
        let places = [app?.rules, rulesForEveryApp].compactMap { $0 }.flatMap { group in
            group.rows.indices.map { (group: group, number: $0) }
        }
        var explainer = CheckExplainer(self, client, app, time)
        return places.sorted { Rule.precedes($0.group.rows[$0.number], $1.group.rows[$1.number]) }
            .map { explainer.explain($0.number, of: $0.group) }
    }
}
