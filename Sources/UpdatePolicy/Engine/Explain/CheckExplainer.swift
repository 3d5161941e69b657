/// Tells what became of each rule in one check: ``Evaluator`` judges it, and the words are found here, from the rows.
struct CheckExplainer {
    private let client: Client
    private let time: Timestamp
    private let list: ReleaseList?
    /// The releases of the client's app and platform, the least first.
    private let releases: [JudgedRelease]
    private var evaluator: Evaluator
    private var finalKey: String?

    init(_ policy: CompiledPolicy, _ client: Client, _ app: CompiledApp?, _ time: Timestamp) {
        self.client = client
        self.time = time
        evaluator = Evaluator(policy, app, Asker(client), at: time)
        list = app?.releases(on: evaluator.platform)
        releases = (list?.releases ?? []).sorted(by: JudgedRelease.isBefore)
    }

    /// Tells what became of a rule; rules must be asked for in order.
    mutating func explain(_ reference: RuleReference) -> Explanation {
        let rule = reference.row
        var explanation: Explanation
        // Who asks for a check is sent what is behind the rollout.
        let isBehindRollout = client.isManual && evaluator.verdict(.rollout, of: reference) < .met
        let conditions = Condition.allCases.filter { !isBehindRollout || $0 != .rollout }
        if let condition = conditions.first(where: { evaluator.verdict($0, of: reference) < .met }) {
            explanation = unmet(condition, reference)
        } else if let finalKey {
            explanation = Explanation(rule: rule, reason: .afterFinal(finalKey), actual: finalKey)
        } else {
            if rule.final, !isBehindRollout { finalKey = rule.key }
            explanation = isBehindRollout ? behindRollout(reference) : sent(reference)
            explanation.match = match(rule)
        }
        explanation.bucket = bucket(rule)
        explanation.rollout = rule.rollout(at: time)
        explanation.heldSince = rule.holdInForce(at: time)
        explanation.hangsOnPreRelease = hangsOnPreRelease(rule)
        return explanation
    }

    /// Tells of a rule that is sent only because the person asked.
    private mutating func behindRollout(_ reference: RuleReference) -> Explanation {
        var explanation = unmet(.rollout, reference)
        explanation.reason = .behindRollout
        if reference.row.target != nil {
            explanation.release = evaluator.targets.least(soak: reference.rule.soak)?.row.label
        }
        return explanation
    }

    /// Tells of a rule that is met whether it locks the client out, and which release is offered.
    private mutating func sent(_ reference: RuleReference) -> Explanation {
        let rule = reference.row
        var (wayOut, release) = (WayOut.open, nil as JudgedRelease?)
        if reference.flags.contains(.needsWayOut) {
            (wayOut, release) = evaluator.wayOut(of: reference)
        } else if rule.target != nil {
            release = evaluator.targets.least(soak: reference.rule.soak)
        }
        var explanation = Explanation(rule: rule, reason: .sent, release: release?.row.label)
        switch wayOut {
        case .open:
            explanation.hangsOnSystem = release?.minOS != nil || rule.os != nil
            return explanation
        case .noOffer: explanation.actual = "no offer"
        case .notAbove: explanation.actual = "the offer is not above the client"
        case .matches: explanation.actual = "the rule matches the offer"
        }
        (explanation.reason, explanation.expected) = (.noWayOut(wayOut), "a way out")
        if client.sentNumberOfNoSystem, let os = client.shown(.os),
            releases.contains(where: { $0.minOS != nil && !$0.row.isWithdrawn(at: time) })
        {
            explanation.actual? += ", os \(os)"
        }
        explanation.obstacle = obstacleOfWayOut(reference, orWithdrawn: wayOut != .matches)
        return explanation
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
            rule.rollout(at: time) == .all || bucket >= rule.rollout(at: time)
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
}

extension CheckExplainer {
    /// Tells of a rule which condition is not met, and what the client has in place of what is asked for.
    private mutating func unmet(_ condition: Condition, _ reference: RuleReference) -> Explanation {
        let rule = reference.row
        func explanation(_ expected: String?, _ actual: String?, attribute: String? = nil) -> Explanation {
            Explanation(
                rule: rule, reason: .unmet(condition, attribute: attribute), expected: expected, actual: actual
            )
        }
        switch condition {
        case .attributes:
            guard let attribute = (rule.attributes?.byName ?? []).first(where: { !client.has($0) }) else {
                return explanation(nil, nil)
            }
            let sent = client.attribute(UTF8Text(attribute.name))?.string
            let isRead = attribute.values.range == nil || sent.flatMap { AppVersion($0) } != nil
            return explanation(
                attribute.values.text, sent.map { Client.shown($0, isRead: isRead) }, attribute: attribute.name
            )
        case .target where client.isBelow(rule.target):
            let offer = evaluator.targets.least(soak: reference.rule.soak)
            var waiting = explanation(rule.target.map { ">=\($0)" }, offer?.row.label)
            waiting.obstacle = obstacleOfTarget(rule)
            waiting.release = waiting.obstacle?.label
            return waiting
        case .target: return explanation(rule.target.map { "<\($0)" }, client.shown(.version))
        case .startsAt: return explanation(rule.startsAt.map { "from \($0)" }, time.description)
        case .endsAt: return explanation(rule.endsAt.map { "until \($0)" }, time.description)
        case .rollout:
            return explanation("bucket < \(rule.rollout(at: time).hundredths)", bucket(rule).map(String.init))
        case .enabled: return explanation("true", "false")
        case .paused: return explanation("false", "true")
        default: return explanation(condition.text(in: rule), condition.field.flatMap(client.shown))
        }
    }

    /// The least release that could reach the rule's target, and why it does not yet.
    private func obstacleOfTarget(_ rule: Rule) -> ReleaseObstacle? {
        guard let target = rule.target.flatMap({ AppVersion($0)?.key }) else { return nil }
        let reaching = releases.filter { !($0.version < target) }
        let awaited = reaching.first { !$0.row.isWithdrawn(at: time) } ?? reaching.last
        return awaited.flatMap { obstacle($0, rule, .pass) }
    }

    /// The least release that would be a way out of the rule's lockout, and why the client cannot get it; the greatest that
    /// was withdrawn where there is no other.
    private func obstacleOfWayOut(_ reference: RuleReference, orWithdrawn: Bool) -> ReleaseObstacle? {
        let row = reference.row
        let ways = releases.filter { reference.group.wayOut(of: reference.rule, client, by: $0) == .open }
        let others = ways.lazy.filter { !$0.row.isWithdrawn(at: time) }
        if let found = others.compactMap({ obstacle($0, row, .fail) }).first { return found }
        let withdrawn = orWithdrawn ? ways.last { $0.row.isWithdrawn(at: time) } : nil
        return withdrawn.flatMap { obstacle($0, row, .fail) }
    }

    /// What keeps the client from a release under the soak of a rule; `nil` where nothing does.
    private func obstacle(
        _ release: JudgedRelease,
        _ rule: Rule,
        _ missingValues: MissingValues
    ) -> ReleaseObstacle? {
        guard let list else { return nil }
        let reason: ReleaseObstacle.Reason
        switch release.row.state(at: time) {
        case .withdrawn(let withdrawnAt): reason = .withdrawn(withdrawnAt <= time ? withdrawnAt : nil)
        case .staged: reason = .staged
        case .noDate: reason = .noDate
        case .comes(let liveAt): reason = .liveFrom(liveAt)
        case .live(let liveAt):
            let soaked = liveAt.advanced(byMicroseconds: rule.soakMicroseconds)
            if list.verdict(ofRegions: release, ReleaseAsker(client), missingValues) < .met {
                reason = .regions(release.row.regions ?? [])
            } else if list.verdict(ofSystem: release, ReleaseAsker(client), missingValues) < .met {
                reason = .os(release.row.minOS ?? "")
            } else if time < soaked {
                reason = .soaksUntil(soaked)
            } else {
                return nil
            }
        }
        return ReleaseObstacle(release: release.row.label, reason: reason)
    }
}

extension Client {
    /// What it sent for a field, with a remark where a version cannot be read or judged; `nil` where it sent nothing.
    fileprivate func shown(_ field: ClientField) -> String? {
        guard let text = text(field) else { return nil }
        let isRead = [ClientField.version: versionKey, .build: buildKey, .os: osKey][field].map { $0 != nil } ?? true
        if field == .os, sentNumberOfNoSystem, let platform { return "\(text) (no version of \(platform))" }
        return Self.shown(text.string, isRead: isRead)
    }

    fileprivate static func shown(_ version: String, isRead: Bool) -> String {
        isRead ? version : "\(version) (cannot be read as a version)"
    }

    fileprivate func has(_ attribute: AttributeCondition) -> Bool {
        attribute.values.accepts(self.attribute(UTF8Text(attribute.name)))
    }

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
        var explainer = CheckExplainer(self, client, app, time)
        return rules(of: app).map { explainer.explain($0) }
    }
}
