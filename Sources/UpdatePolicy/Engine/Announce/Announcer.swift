/// The finding of what a policy says to all clients that a question describes.
struct Announcer {
    private let policy: CompiledPolicy
    private let app: CompiledApp
    private let asker: PartialClient
    private let time: Int64
    private let platform: Int32
    private let list: ReleaseList?
    private let canSay: (AppVersion, _ build: String?) -> Bool

    private var client: Client { asker.client }

    /// The releases that may be offered, as a target and as a way out ask for them.
    private var haveReleasesBeenRead = false
    private lazy var targetReleases = PossibleReleases(list, asker, at: time, .pass)
    private lazy var waysOutReleases = PossibleReleases(list, asker, at: time, .fail)

    private struct Candidate {
        let id: RuleID
        let group: RuleGroup
        let isCertain: Bool
        /// The versions that it reaches; `nil` for all, also those that cannot be read.
        let versions: [VersionInterval]?

        var rule: CompiledRule { group.rules[Int(id.index)] }
        var row: Rule { group.rows[Int(id.index)] }

        /// Where the versions end that it reaches; `nil` where they do not.
        var end: VersionKey? { versions?.last.flatMap { $0.upper < .maximum ? $0.upper : nil } }

        /// A version as the rule writes it, where its versions end there.
        func spelling(of version: VersionKey) -> String? {
            end == version ? group.pools.ends[Int(id.index)] : nil
        }
    }

    init(
        _ policy: CompiledPolicy,
        _ app: CompiledApp,
        _ asker: PartialClient,
        at time: Timestamp,
        where canSay: @escaping (AppVersion, _ build: String?) -> Bool
    ) {
        self.policy = policy
        self.app = app
        self.asker = asker
        self.canSay = canSay
        self.time = time.microsecondsSince1970
        platform = policy.platformNumbers.number(of: asker.client)
        list = app.releaseList(onPlatform: platform).map { app.releases[$0] }
    }

    mutating func announcement(leastSystem: AppVersion? = nil) -> Announcement {
        let offer = targetReleases.offers(soak: 0).least
        var announced: (prompt: AnnouncedVersion?, floor: AnnouncedVersion?) = (nil, nil)
        if let offer {
            let candidates = candidates()
            announced = !client.has(.version) ? toEveryVersion(candidates, offer) : toOneVersion(candidates, offer)
        }
        return Announcement(
            prompt: announced.prompt, floor: announced.floor, latest: offer.map { app.releaseRows[$0.row] },
            leastSystem: leastSystem, storeLink: app.links.first { $0.platform == platform }?.link
        )
    }

    // MARK: Rules

    /// The rules that some client may be sent, in the order of messages.
    mutating func possibleRules() -> [Rule] {
        candidates(withPossible: true).map(\.row)
    }

    /// The rules that are sent, or whose being sent may keep others from being so, in the order of messages.
    ///
    /// - Parameter withPossible: Whether also all the others that some client may be sent.
    private mutating func candidates(withPossible: Bool = false) -> [Candidate] {
        let own = candidates(of: app.rules, appIndex: Int32(truncatingIfNeeded: app.index), withPossible)
        let general = candidates(of: policy.rulesForEveryApp, appIndex: -1, withPossible)
        return merged(own[...], general[...]) { Rule.precedes($0.row, $1.row) }
    }

    private mutating func candidates(of group: RuleGroup?, appIndex: Int32, _ withPossible: Bool) -> [Candidate] {
        guard let group else { return [] }
        let facts = CheckFacts(client, platform: platform, time: time, on: group.scales)
        return group.rules.indices.compactMap { index in
            let id = RuleID(app: appIndex, index: UInt32(truncatingIfNeeded: index))
            return candidate(id, of: group, facts, withPossible)
        }
    }

    private mutating func candidate(
        _ id: RuleID,
        of group: RuleGroup,
        _ facts: CheckFacts,
        _ withPossible: Bool
    ) -> Candidate? {
        let index = Int(id.index)
        let rule = group.rules[index]
        var verdict = group.verdict(Self.conditions, of: index, asker, facts)
        if verdict > .unmet, rule.flags.contains(.hasTarget) {
            verdict = min(verdict, offered(group.pools.targets[Int(rule.target)], soak: rule.soak))
        }
        guard verdict == .met || verdict == .unknown && (withPossible || rule.flags.contains(.final))
        else { return nil }
        let versions = group.versions(of: index)
        if let versions {
            if versions.isEmpty { return nil }
            if client.has(.version) {
                guard let version = client.versionKey, versions.contains(where: { $0.contains(version) }) else {
                    return nil
                }
            }
        }
        return Candidate(id: id, group: group, isCertain: verdict == .met, versions: versions)
    }

    /// All but those on the version, which may be any.
    private static let conditions =
        [.enabled, .startsAt, .endsAt, .rollout] + Condition.onClients.filter { $0 != .versions }

    // MARK: Offers

    private mutating func offered(_ target: VersionKey, soak: Int64) -> Verdict {
        // On a platform that was not sent there may be any release.
        if !client.has(.platform) { return .unknown }
        let offers = targetReleases.offers(soak: soak)
        if let least = offers.least, !(least.version < target) { return .met }
        return offers.greatest.map { $0.version < target } ?? true ? .unmet : .unknown
    }

    // MARK: Every version

    private mutating func toEveryVersion(
        _ candidates: [Candidate],
        _ offer: CompiledRelease
    ) -> (prompt: AnnouncedVersion?, floor: AnnouncedVersion?) {
        let candidates = candidates.filter { $0.versions.map { $0[0].lower < offer.version } ?? true }
        let entries = candidates.map { candidate in
            VersionSweep.Entry(
                versions: Self.versions(of: candidate, below: offer.version), isCertain: candidate.isCertain,
                isFinal: candidate.rule.flags.contains(.final), lockoutEnd: lockoutEnd(of: candidate)
            )
        }
        let sweep = VersionSweep(entries)
        let byEnd = candidates.indices
            .filter { candidates[$0].isCertain && !(offer.version < entries[$0].end) }
            .sorted { entries[$1].end < entries[$0].end }
        var prompt: AnnouncedVersion?
        for index in byEnd where sweep.isPrompt(entries[index].end) {
            let end = entries[index].end
            if prompt != nil, !sweep.isFloor(end) { continue }
            guard let text = spelling(of: end) ?? candidates[index].spelling(of: end) else { continue }
            let version = AppVersion(text: text, key: end)
            if prompt == nil {
                prompt = announced(version, offer, candidates, entries) { _ in true }
                if prompt == nil { continue }
            }
            if sweep.isFloor(end),
                let floor = announced(version, offer, candidates, entries, where: { $0.lockoutEnd != nil })
            {
                return (prompt, floor)
            }
        }
        return (prompt, nil)
    }

    /// The versions that a rule reaches: where they end above the offer, those below it, to whom the offer is announced.
    /// What has no end asks nobody to update.
    private static func versions(of candidate: Candidate, below offer: VersionKey) -> [VersionInterval] {
        guard let end = candidate.end, offer < end else { return candidate.versions ?? [.all] }
        return (candidate.versions ?? []).below(offer)
    }

    /// Where the versions end that a rule certainly locks out; `nil` where it locks nobody out for certain.
    private mutating func lockoutEnd(of candidate: Candidate) -> VersionKey? {
        let rule = candidate.rule
        guard policy.sendsLockouts, candidate.isCertain, rule.flags.contains(.lockout) else { return nil }
        guard rule.flags.contains(.needsWayOut) else { return .maximum }
        let offers = waysOutReleases.offers(soak: rule.soak)
        // What the offer's build is does not count here: it matters only to single versions.
        guard let least = offers.least, let versions = candidate.versions, !offers.isAny(in: versions) else {
            return nil
        }
        return least.family
    }

    private mutating func announced(
        _ version: AppVersion,
        _ offer: CompiledRelease,
        _ candidates: [Candidate],
        _ entries: [VersionSweep.Entry],
        where isMeant: (VersionSweep.Entry) -> Bool
    ) -> AnnouncedVersion? {
        // Asked first, because many may not be said.
        let build = list?.builds.threshold(below: version)
        guard canSay(version, build) else { return nil }
        let meant = candidates.indices.filter {
            entries[$0].isCertain && isMeant(entries[$0]) && !(version.key < entries[$0].end)
        }
        // What is demanded by numbers may be reached by rules that end before the pre-releases of the version.
        guard let first = meant.max(by: { entries[$0].end < entries[$1].end }) else { return nil }
        return announced(
            version, release(of: version, offer), build: build, rules: meant.map { candidates[$0].id },
            first: candidates[first].id
        )
    }

    /// The release of a version that every client can get; the offer where there is none.
    private func release(of version: AppVersion, _ offer: CompiledRelease) -> CompiledRelease {
        guard offer.version != version.key, let list else { return offer }
        let first = list.releases.indices.partitioningIndex { !(version.key < list.releases[$0].version) }
        let release = list.releases[first...]
            .prefix { $0.version == version.key }
            .first { release in
                release.isLive(at: time)
                    && list.verdict(of: release, asker, .pass) == .met
            }
        return release ?? offer
    }

    private func spelling(of version: VersionKey) -> String? {
        app.releaseVersions[ReleaseVersion(platform: platform, version: version)]
    }

    // MARK: One version

    private mutating func toOneVersion(
        _ candidates: [Candidate],
        _ offer: CompiledRelease
    ) -> (prompt: AnnouncedVersion?, floor: AnnouncedVersion?) {
        guard client.versionKey != nil else { return (nil, nil) }
        var prompts: [Request] = []
        var floors: [Request] = []
        for candidate in candidates {
            if candidate.isCertain {
                // Without a target, the soak is about the way out alone.
                let soak = candidate.rule.flags.contains(.hasTarget) ? candidate.rule.soak : 0
                let offers = targetReleases.offers(soak: soak)
                if let request = request(of: candidate, offers) { prompts.append(request) }
                let needsWayOut = candidate.rule.flags.contains(.needsWayOut)
                if policy.sendsLockouts, candidate.rule.flags.contains(.lockout), isLockedOut(by: candidate) {
                    let ways = needsWayOut ? waysOutReleases.offers(soak: candidate.rule.soak) : offers
                    if let request = request(of: candidate, ways) { floors.append(request) }
                }
            }
            if candidate.rule.flags.contains(.final) { break }
        }
        return (greatest(of: prompts), greatest(of: floors))
    }

    private struct Request {
        let rule: RuleID
        let version: AppVersion
        let offer: CompiledRelease
    }

    /// The version that the client is to update to so that the rule no longer reaches it, and the offer where the rule ends
    /// above it; `nil` where there is none.
    private func request(of candidate: Candidate, _ offers: PossibleOffers) -> Request? {
        guard let least = offers.least, let own = client.versionKey, own < least.version || least.isAbove(client) else {
            return nil
        }
        let version: AppVersion?
        if candidate.rule.flags.contains(.hasTarget) {
            let target = candidate.group.pools.targets[Int(candidate.rule.target)]
            let text = spelling(of: target) ?? candidate.row.target
            version = least.version < target ? nil : text.map { AppVersion(text: $0, key: target) }
        } else {
            let isLeft = !candidate.group.matches(candidate.rule, least) || own < least.version && candidate.end != nil
            version = isLeft ? AppVersion(text: app.releaseRows[least.row].version, key: least.version) : nil
        }
        return version.map { Request(rule: candidate.id, version: $0, offer: least) }
    }

    private mutating func isLockedOut(by candidate: Candidate) -> Bool {
        guard candidate.rule.flags.contains(.needsWayOut) else { return true }
        let ways = waysOutReleases.offers(soak: candidate.rule.soak)
        guard client.versionKey != nil, ways.isCertain, ways.areAbove else { return false }
        guard candidate.rule.builds.isEmpty else {
            return ways.releases.allSatisfy { !candidate.group.matches(candidate.rule, $0) }
        }
        return candidate.versions.map { !ways.isAny(in: $0) } ?? false
    }

    /// The greatest version of some requests that can be said.
    private func greatest(of requests: [Request]) -> AnnouncedVersion? {
        let firsts = Dictionary(requests.map { ($0.version, $0) }, uniquingKeysWith: { first, _ in first })
        for (version, first) in firsts.sorted(by: { $0.key > $1.key }) {
            let release = release(of: version, first.offer)
            let build = release.version == version.key ? app.releaseRows[release.row].build : nil
            guard canSay(version, build) else { continue }
            let rules = requests.filter { !(version < $0.version) }.map(\.rule)
            return announced(version, release, build: build, rules: rules, first: first.rule)
        }
        return nil
    }

    private func announced(
        _ version: AppVersion,
        _ release: CompiledRelease,
        build: String?,
        rules: [RuleID],
        first: RuleID
    ) -> AnnouncedVersion? {
        var languages = TextLanguages()
        return policy.message(of: SentRule(id: first), client, app, &languages).map { message in
            AnnouncedVersion(
                version: version, release: app.releaseRows[release.row], build: build, rules: rules,
                shows: rules.compactMap { policy.group(of: $0, app)?.rows[Int($0.index)].shows }.min(), message: message
            )
        }
    }

    // MARK: Messages

    /// The rules whose messages every client is sent, in order, each as a lockout where it is one to every client.
    mutating func sentRules() -> [SentRule] {
        var sent: [SentRule] = []
        for candidate in candidates() {
            if candidate.isCertain, candidate.versions == nil || client.has(.version) {
                let isLockout = candidate.rule.flags.contains(.lockout) && isLockedOut(by: candidate)
                sent.append(SentRule(id: candidate.id, lockout: isLockout))
            }
            if candidate.rule.flags.contains(.final) { break }
        }
        return sent
    }

    // MARK: Lockouts

    /// Whether every client is locked out, and by which rule first.
    ///
    /// Whatever is not known of a client may be as if it had not been sent. So a rule that is sent to every client is among
    /// those that a check with the same members meets: what is left to ask is what the releases say to every client, and
    /// whether some client is sent a final rule before.
    ///
    /// - Parameters:
    ///   - met: The rules that a check with the same members meets, in order.
    ///   - start: Where among them the first lockout is.
    mutating func lockout(among met: [SentRule], from start: Int, within steps: Int) -> CertainLockout {
        var rest = steps
        var finals: [FinalRules] = []
        for (appIndex, group) in [(Int32(truncatingIfNeeded: app.index), app.rules), (-1, policy.rulesForEveryApp)] {
            guard let group, !group.finalRules.isEmpty else { continue }
            let facts = CheckFacts(client, platform: platform, time: time, on: group.scales)
            finals.append(FinalRules(group: group, appIndex: appIndex, facts: facts))
        }
        for id in met[start...].lazy.map(\.id) {
            guard let group = policy.group(of: id, app) else { continue }
            let rule = group.rules[Int(id.index)]
            guard rule.flags.contains(.lockout) else { continue }
            for index in finals.indices {
                while let other = finals[index].next, finals[index].precedes(other, id, group) {
                    finals[index].passed += 1
                    let (group, facts) = (finals[index].group, finals[index].facts)
                    rest -= self.steps(toJudge: other, of: group, atMost: rest)
                    if rest < 0 { return .unfinished }
                    if candidate(other, of: group, facts, false) != nil { return .open }
                }
            }
            rest -= self.steps(toJudge: id, of: group, atMost: rest)
            if rest < 0 { return .unfinished }
            if rule.flags.contains(.hasTarget),
                offered(group.pools.targets[Int(rule.target)], soak: rule.soak) < .met
            {
                continue
            }
            let versions = group.versions(of: Int(id.index))
            let candidate = Candidate(id: id, group: group, isCertain: true, versions: versions)
            if isLockedOut(by: candidate) { return .rule(policy.key(of: id)) }
        }
        return .open
    }

    /// How many steps it takes to judge a rule; more than `most` where that is already too many.
    private mutating func steps(toJudge id: RuleID, of group: RuleGroup, atMost most: Int) -> Int {
        let rule = group.rules[Int(id.index)]
        var steps = 8 + Int(rule.versions.count) + Int(rule.os.count)
        for attribute in rule.attributes.indices { steps += 1 + group.pools.attributes[attribute].values.count / 4 }
        guard let list, !rule.flags.isDisjoint(with: [.hasTarget, .needsWayOut]) else { return steps }
        if !haveReleasesBeenRead { steps += list.releases.count / 2 }
        if steps > most { return steps }
        haveReleasesBeenRead = true
        if rule.flags.contains(.hasTarget) { steps += targetReleases.steps(toSoak: rule.soak) }
        if rule.flags.contains(.needsWayOut) {
            steps += waysOutReleases.steps(toSoak: rule.soak)
            if !rule.builds.isEmpty, steps <= most { steps += waysOutReleases.offers(soak: rule.soak).releases.count }
        }
        return steps
    }

    /// The rules of a group that may keep others from being sent, in order.
    private struct FinalRules {
        let group: RuleGroup
        let appIndex: Int32
        let facts: CheckFacts
        var passed = 0

        var next: RuleID? {
            passed < group.finalRules.count ? RuleID(app: appIndex, index: group.finalRules[passed]) : nil
        }

        func precedes(_ own: RuleID, _ rule: RuleID, _ groupOfRule: RuleGroup) -> Bool {
            if own.app == rule.app { return own.index < rule.index }
            return Rule.precedes(group.rows[Int(own.index)], groupOfRule.rows[Int(rule.index)])
        }
    }
}
