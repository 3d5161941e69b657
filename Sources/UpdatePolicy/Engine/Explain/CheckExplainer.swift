/// Tells what became of each rule in one check.
///
/// What a rule does is judged by the same functions that answer checks; only the words are found here, from the rows.
struct CheckExplainer {
    private let client: Client
    private let app: CompiledApp?
    private let time: Timestamp
    private let platform: Int32
    /// The releases of the client's app and platform, the least first.
    private let releases: [JudgedRelease]
    private var finalKey: String?
    private var offers = OfferSearch(.lenient)
    private var waysOut = OfferSearch(.strict)

    private struct Reason {
        var condition: String?
        var expected: String?
        var actual: String?
        var release: String?
        var obstacle: ReleaseObstacle?
        /// Whether the release that is offered is for some systems only.
        var asksForSystem = false

        init(condition: String? = nil, expected: String? = nil, actual: String? = nil, offer: Release? = nil) {
            self.condition = condition
            self.expected = expected
            self.actual = actual
            release = offer?.label
            asksForSystem = offer?.minOS != nil
        }
    }

    init(_ policy: CompiledPolicy, _ client: Client, _ app: CompiledApp?, _ time: Timestamp) {
        self.client = client
        self.app = app
        self.time = time
        platform = policy.platformNumbers.number(of: client)
        let name = client.platform.map { UTF8Text($0.name) }
        releases = (app?.releaseRows ?? []).filter { UTF8Text(Platform($0.platform).name) == name }
            .compactMap { JudgedRelease($0) }
            .sorted(by: JudgedRelease.isBefore)
    }

    /// Tells what became of a rule; rules must be asked for in order.
    mutating func explain(_ index: Int, of group: RuleGroup) -> Explanation {
        let compiled = group.rules[index]
        let facts = CheckFacts(client, platform: platform, time: time.microsecondsSince1970, on: group.scales)
        if let condition = group.firstUnmetCondition(of: index, by: client, facts, app, &offers) {
            return explanation(index, of: group, .noMatch, reason(index, of: group, condition), unmet: condition)
        }
        if let finalKey {
            return explanation(index, of: group, .afterAFinalRule, Reason(condition: "final", actual: finalKey))
        }
        if compiled.flags.contains(.final) { finalKey = group.rows[index].key }
        guard compiled.flags.contains(.needsWayOut) else {
            let offer = compiled.flags.contains(.hasTarget) ? self.offer(compiled) : nil
            return explanation(index, of: group, .sent, Reason(offer: offer))
        }
        var reason = Reason(condition: "lockout", expected: "a way out")
        var isMatched = false
        switch group.wayOut(of: compiled, client, app, platform, time.microsecondsSince1970, &waysOut) {
        case .open(let offer):
            return explanation(index, of: group, .sent, Reason(offer: release(offer)))
        case .noOffer:
            reason.actual = "no offer"
        case .notAbove(let offer):
            reason.actual = Explanation.notAbove
            reason.release = release(offer)?.label
        case .matches(let offer):
            reason.actual = "the rule matches the offer"
            reason.release = release(offer)?.label
            isMatched = true
        }
        if client.sentNumberOfNoSystem, let os = client.shown(.os),
            releases.contains(where: { $0.minOS != nil && !$0.row.isWithdrawn(at: time) })
        {
            reason.actual?.append(", os \(os)")
        }
        reason.obstacle = obstacleOfWayOut(index, of: group, orWithdrawn: !isMatched)
        return explanation(index, of: group, .sentWithoutLockout, reason)
    }

    private func explanation(
        _ index: Int,
        of group: RuleGroup,
        _ outcome: Explanation.Outcome,
        _ reason: Reason,
        unmet: Condition? = nil
    ) -> Explanation {
        let rule = group.rows[index]
        return Explanation(
            position: rule.position, key: rule.key, outcome: outcome, condition: reason.condition,
            expected: reason.expected, actual: reason.actual, bucket: bucket(rule), rollout: rule.rollout(at: time),
            heldSince: rule.holdInForce(at: time), release: reason.release, lockout: rule.lockout,
            match: outcome == .sent || outcome == .sentWithoutLockout ? match(rule) : nil, unmet: unmet,
            hangsOnPreRelease: hangsOnPreRelease(rule),
            hangsOnSystem: outcome == .sent && (reason.asksForSystem || rule.os != nil), obstacle: reason.obstacle
        )
    }

    /// The title of a rule that is met, whom it is for, and what the client has of what it asks for.
    private func match(_ rule: Rule) -> String {
        let fields = Condition.onClients.filter { $0.value(in: rule) != .null }.compactMap(\.field)
        let asked = (rule.target == nil || fields.contains(.version) ? [] : [ClientField.version]) + fields
        let had = asked.compactMap { field in client.shown(field).map { "\(field.name) \($0)" } }
        let attributes = (rule.attributes ?? []).compactMap { asked in
            client.attribute(UTF8Text(asked.name)).map { "\(asked.name) \($0.string)" }
        }
        let sent = (had + attributes).joined(separator: ", ")
        let part = bucket(rule).flatMap(Percentage.init(hundredths:)).flatMap { bucket in
            rule.rollout(at: time) == .all
                ? nil : "; its installation is at \(bucket) % of the \(rule.rollout(at: time)) % that are reached"
        }
        return "\"\(rule.title)\" is for \(rule.audience)"
            + (sent.isEmpty ? "" : "; this client sent \(sent)") + "\(part ?? "")."
    }

    /// Whether the version of the client is a pre-release that a rule judges in another way than the release with its numbers.
    private func hangsOnPreRelease(_ rule: Rule) -> Bool {
        guard let version = client.version, version.isPreRelease, let release = AppVersion(version.writtenNumbers)
        else {
            return false
        }
        let (range, target) = (rule.versions.flatMap(VersionRange.init), rule.target.flatMap(AppVersion.init))
        func isFor(_ version: AppVersion) -> Bool {
            (rule.versions == nil || range?.contains(version) == true) && target.map { version.key < $0.key } ?? true
        }
        return isFor(version) != isFor(release)
    }

    private func bucket(_ rule: Rule) -> Int? {
        client.install.map { Bucket(key: rule.key, install: $0).number }
    }

    private func release(_ offer: Int) -> Release? {
        guard let app, let list = app.releaseList(onPlatform: platform) else { return nil }
        return app.releaseRows[app.releases[list].releases[offer].row]
    }

    private func offer(_ rule: CompiledRule) -> Release? {
        guard let app, let list = app.releaseList(onPlatform: platform) else { return nil }
        var offers = offers
        let (releases, now) = (app.releases[list], time.microsecondsSince1970)
        return offers.offer(among: releases, to: client, at: now, soak: rule.soak).flatMap(release)
    }
}

extension CheckExplainer {
    private func reason(_ index: Int, of group: RuleGroup, _ condition: Condition) -> Reason {
        let rule = group.rows[index]
        var reason = Reason(condition: condition.rawValue)
        switch condition {
        case .attributes:
            guard let unmet = group.firstUnmetAttribute(group.rules[index], client) else { break }
            let attribute = group.pools.attributes[unmet]
            reason.condition = "attributes.\(attribute.name)"
            reason.expected = attribute.values.map(\.string).joined(separator: ", ")
            reason.actual = client.attribute(attribute.name)?.string
        case .target where client.isBelow(rule.target):
            reason.expected = rule.target.map { ">=\($0)" }
            reason.actual = offer(group.rules[index])?.label
            reason.obstacle = obstacleOfTarget(rule)
            reason.release = reason.obstacle?.label
        case .target:
            reason.expected = rule.target.map { "<\($0)" }
            reason.actual = client.shown(.version)
        case .startsAt:
            reason.expected = rule.startsAt.map { "from \($0)" }
            reason.actual = time.description
        case .endsAt:
            reason.expected = rule.endsAt.map { "until \($0)" }
            reason.actual = time.description
        case .rollout:
            reason.expected = "bucket < \(rule.rollout(at: time).hundredths)"
            reason.actual = bucket(rule).map(String.init)
        case .enabled: (reason.expected, reason.actual) = ("true", "false")
        case .paused: (reason.expected, reason.actual) = ("false", "true")
        default:
            reason.expected = condition.text(in: rule)
            reason.actual = condition.field.flatMap(client.shown)
        }
        return reason
    }

    /// The least release that could reach the rule's target, and why it does not yet.
    private func obstacleOfTarget(_ rule: Rule) -> ReleaseObstacle? {
        guard let target = rule.target.flatMap({ AppVersion($0)?.key }) else { return nil }
        let reaching = releases.filter { !($0.version < target) }
        let awaited = reaching.first { !$0.row.isWithdrawn(at: time) } ?? reaching.last
        return awaited.flatMap { obstacle($0, rule, .lenient) }
    }

    /// The least release that would be a way out of the rule's lockout, and why the client cannot get it; the greatest that
    /// was withdrawn where there is no other.
    private func obstacleOfWayOut(_ index: Int, of group: RuleGroup, orWithdrawn: Bool) -> ReleaseObstacle? {
        let row = group.rows[index]
        let ways = releases.filter { release in
            release.isAbove(client.versionKey, build: client.buildKey) && !group.matches(group.rules[index], release)
        }
        let others = ways.lazy.filter { !$0.row.isWithdrawn(at: time) }
        if let found = others.compactMap({ obstacle($0, row, .strict) }).first { return found }
        let withdrawn = orWithdrawn ? ways.last { $0.row.isWithdrawn(at: time) } : nil
        return withdrawn.flatMap { obstacle($0, row, .strict) }
    }

    private func obstacle(
        _ release: JudgedRelease,
        _ rule: Rule,
        _ judgement: ReleaseList.Judgement
    ) -> ReleaseObstacle? {
        reason(release, rule, judgement).map { ReleaseObstacle(release: release.row.label, reason: $0) }
    }

    private func reason(
        _ release: JudgedRelease,
        _ rule: Rule,
        _ judgement: ReleaseList.Judgement
    ) -> ReleaseObstacle.Reason? {
        switch release.row.state(at: time) {
        case .withdrawn(let withdrawnAt): return .withdrawn(withdrawnAt <= time ? withdrawnAt : nil)
        case .staged: return .staged
        case .noDate: return .noDate
        case .comes(let liveAt): return .liveFrom(liveAt)
        case .live(let liveAt):
            if let regions = release.row.regions {
                let isMet = client.region.map { regions.contains($0.code) } ?? (judgement == .lenient)
                if !isMet { return .regions(regions) }
            }
            if let minOS = release.minOS, let text = release.row.minOS {
                let isMet = client.system.map { !($0 < minOS) } ?? (judgement == .lenient)
                if !isMet { return .os(text) }
            }
            let soaked = liveAt.advanced(byMicroseconds: rule.soakMicroseconds)
            return time < soaked ? .soaksUntil(soaked) : nil
        }
    }
}

extension Client {
    /// What it sent for a field, with a remark where a version cannot be read or judged; `nil` where it sent nothing.
    fileprivate func shown(_ field: ClientField) -> String? {
        guard let text = text(field) else { return nil }
        let isRead = [ClientField.version: versionKey, .build: buildKey, .os: osKey][field].map { $0 != nil } ?? true
        if field == .os, sentNumberOfNoSystem, let platform { return "\(text) (no version of \(platform))" }
        return isRead ? text.string : "\(text) (cannot be read as a version)"
    }

    /// Whether it has a version that can be read and is below a target.
    func isBelow(_ target: String?) -> Bool {
        guard let versionKey, let target = target.flatMap({ AppVersion($0)?.key }) else { return false }
        return versionKey < target
    }
}

extension CompiledPolicy {
    /// What became of each rule for a client at a time, in the order of the messages.
    ///
    /// The rules are those of the client's app and those for every app, enabled or not.
    package func explain(_ client: Client, at time: Timestamp) -> [Explanation] {
        let app = app(of: client)
        func rules(_ group: RuleGroup?) -> [(group: RuleGroup, index: Int)] {
            group.map { group in group.rows.indices.map { (group, $0) } } ?? []
        }
        let inOrder = merged(rules(app?.rules)[...], rules(rulesForEveryApp)[...]) {
            Rule.precedes($0.group.rows[$0.index], $1.group.rows[$1.index])
        }
        var explainer = CheckExplainer(self, client, app, time)
        return inOrder.map { explainer.explain($0.index, of: $0.group) }
    }
}
