/// The finding of what a policy says to all clients that a question describes.
package final class Announcer {
    let policy: CompiledPolicy
    let app: CompiledApp
    let client: Client
    private(set) var evaluator: Evaluator
    let list: ReleaseList?
    let isRepresentable: (AppVersion, _ build: String?) -> Bool

    private struct Candidate {
        let reference: RuleReference
        let isCertain: Bool
        /// The versions that it reaches; `nil` for all, also those that cannot be read.
        let versions: [VersionInterval]?

        var row: Rule { reference.row }
        var rule: CompiledRule { reference.rule }
        var flags: CompiledRule.Flags { reference.flags }

        /// Where the versions end that it reaches; `nil` where they do not.
        var end: VersionKey? { versions?.last.flatMap { $0.upper < .maximum ? $0.upper : nil } }

        /// A version as the rule writes it, where its versions end there.
        func spelling(of version: VersionKey) -> String? {
            end == version ? reference.group.pools.ends[reference.index] : nil
        }
    }

    init(
        _ policy: CompiledPolicy,
        _ app: CompiledApp,
        _ asker: Asker,
        at time: Timestamp,
        where isRepresentable: @escaping (AppVersion, _ build: String?) -> Bool
    ) {
        (self.policy, self.app, client, self.isRepresentable) = (policy, app, asker.client, isRepresentable)
        evaluator = Evaluator(policy, app, asker, at: time)
        list = app.releases(on: evaluator.platform)
    }

    /// - Parameter leastSystem: Which systems the clients have, where that is not all of them: this version and later ones.
    package func announcement(leastSystem: AppVersion? = nil) -> Announcement {
        let offer = evaluator.targets.least(soak: 0)
        var announced: (prompt: AnnouncedVersion?, floor: AnnouncedVersion?) = (nil, nil)
        if let offer {
            let candidates = candidates()
            announced = !client.has(.version) ? toEveryVersion(candidates, offer) : toOneVersion(candidates, offer)
        }
        return Announcement(
            prompt: announced.prompt, floor: announced.floor, latest: offer?.row, leastSystem: leastSystem,
            storeLink: app.links.first { $0.platform == evaluator.platform }?.link
        )
    }

    // MARK: Rules

    /// The rules that some client may be sent, in the order of messages.
    package func possibleRules() -> [Rule] { candidates(withPossible: true).map(\.row) }

    /// The rules that are sent, or whose being sent may keep others from being so, in the order of messages.
    ///
    /// - Parameter withPossible: Whether also all the others that some client may be sent.
    private func candidates(withPossible: Bool = false) -> [Candidate] {
        policy.rules(of: app).compactMap { reference in
            var verdict = evaluator.verdict(Self.conditions, of: reference)
            if verdict > .unmet { verdict = min(verdict, evaluator.offered(reference)) }
            guard verdict == .met || verdict == .unknown && (withPossible || reference.flags.contains(.final)) else {
                return nil
            }
            let versions = reference.versions
            if let versions {
                if versions.isEmpty { return nil }
                if client.has(.version) {
                    guard let version = client.versionKey, versions.contains(where: { $0.contains(version) }) else {
                        return nil
                    }
                }
            }
            return Candidate(reference: reference, isCertain: verdict == .met, versions: versions)
        }
    }

    /// All but those on the version, which may be any.
    private static let conditions =
        [.enabled, .startsAt, .endsAt, .rollout] + Condition.onClients.filter { $0 != .versions }

    // MARK: Every version

    private func toEveryVersion(
        _ candidates: [Candidate],
        _ offer: JudgedRelease
    ) -> (prompt: AnnouncedVersion?, floor: AnnouncedVersion?) {
        let candidates = candidates.filter { $0.versions.map { $0[0].lower < offer.version } ?? true }
        let entries = candidates.map { candidate in
            VersionSweep.Entry(
                versions: Self.versions(of: candidate, below: offer.version), isCertain: candidate.isCertain,
                isFinal: candidate.flags.contains(.final), lockoutEnd: lockoutEnd(of: candidate)
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
            guard let text = list?.spelling(of: end) ?? candidates[index].spelling(of: end) else { continue }
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
    private func lockoutEnd(of candidate: Candidate) -> VersionKey? {
        guard policy.sendsLockouts, candidate.isCertain, candidate.flags.contains(.lockout) else { return nil }
        guard candidate.flags.contains(.needsWayOut) else { return .maximum }
        let offers = evaluator.waysOut.all(soak: candidate.rule.soak)
        // What the offer's build is does not count here: it matters only to single versions.
        guard offers.isCertain, let least = offers.releases.last,
            !offers.releases.contains(where: { candidate.reference.group.reaches(candidate.rule, $0.version) })
        else { return nil }
        return least.family
    }

    private func announced(
        _ version: AppVersion,
        _ offer: JudgedRelease,
        _ candidates: [Candidate],
        _ entries: [VersionSweep.Entry],
        where isMeant: (VersionSweep.Entry) -> Bool
    ) -> AnnouncedVersion? {
        // Asked first, because many may not be said.
        let build = list?.builds.threshold(below: version)
        guard isRepresentable(version, build) else { return nil }
        let meant = candidates.indices.filter {
            entries[$0].isCertain && isMeant(entries[$0]) && !(version.key < entries[$0].end)
        }
        // What is demanded by numbers may be reached by rules that end before the pre-releases of the version.
        guard let first = meant.max(by: { entries[$0].end < entries[$1].end }) else { return nil }
        return announced(
            version, release(of: version, offer), build: build, meant.map { candidates[$0] }, first: candidates[first]
        )
    }

    /// The release of a version that every client can get; the offer where there is none.
    private func release(of version: AppVersion, _ offer: JudgedRelease) -> JudgedRelease {
        guard offer.version != version.key, let list else { return offer }
        let release = list.releases(of: version.key).first {
            $0.isLive(at: evaluator.time) && list.verdict(of: $0, ReleaseAsker(evaluator.asker), .pass) == .met
        }
        return release ?? offer
    }

    // MARK: One version

    private func toOneVersion(
        _ candidates: [Candidate],
        _ offer: JudgedRelease
    ) -> (prompt: AnnouncedVersion?, floor: AnnouncedVersion?) {
        guard client.versionKey != nil else { return (nil, nil) }
        var prompts: [Request] = []
        var floors: [Request] = []
        for candidate in candidates {
            if candidate.isCertain {
                // Without a target, the soak is about the way out alone.
                let soak = candidate.flags.contains(.hasTarget) ? candidate.rule.soak : 0
                let least = evaluator.targets.least(soak: soak)
                if let request = request(of: candidate, least) { prompts.append(request) }
                if policy.sendsLockouts, evaluator.isLockedOut(by: candidate.reference) {
                    let needsWayOut = candidate.flags.contains(.needsWayOut)
                    let way = needsWayOut ? evaluator.waysOut.least(soak: candidate.rule.soak) : least
                    if let request = request(of: candidate, way) { floors.append(request) }
                }
            }
            if candidate.flags.contains(.final) { break }
        }
        return (greatest(of: prompts), greatest(of: floors))
    }

    private struct Request {
        let candidate: Candidate
        let version: AppVersion
        let offer: JudgedRelease
    }

    /// The version that the client is to update to so that the rule no longer reaches it, and the offer where the rule ends
    /// above it; `nil` where there is none.
    private func request(of candidate: Candidate, _ least: JudgedRelease?) -> Request? {
        guard let least, let own = client.versionKey,
            own < least.version || least.isAbove(own, build: client.buildKey)
        else { return nil }
        let version: AppVersion?
        if candidate.flags.contains(.hasTarget) {
            let target = candidate.reference.group.pools.targets[Int(candidate.rule.target)]
            let text = list?.spelling(of: target) ?? candidate.row.target
            version = least.version < target ? nil : text.map { AppVersion(text: $0, key: target) }
        } else {
            let isLeft =
                !candidate.reference.group.matches(candidate.rule, least) || own < least.version && candidate.end != nil
            version = isLeft ? AppVersion(text: least.row.version, key: least.version) : nil
        }
        return version.map { Request(candidate: candidate, version: $0, offer: least) }
    }

    /// The greatest version of some requests that can be said.
    private func greatest(of requests: [Request]) -> AnnouncedVersion? {
        let firsts = Dictionary(requests.map { ($0.version, $0) }, uniquingKeysWith: { first, _ in first })
        for (version, first) in firsts.sorted(by: { $0.key > $1.key }) {
            let release = release(of: version, first.offer)
            let build = release.version == version.key ? release.row.build : nil
            guard isRepresentable(version, build) else { continue }
            let reached = requests.filter { !(version < $0.version) }.map(\.candidate)
            return announced(version, release, build: build, reached, first: first.candidate)
        }
        return nil
    }

    private func announced(
        _ version: AppVersion,
        _ release: JudgedRelease,
        build: String?,
        _ candidates: [Candidate],
        first: Candidate
    ) -> AnnouncedVersion? {
        var languages = TextLanguages()
        return policy.message(of: SentRule(id: first.reference.id), client, app, &languages).map { message in
            AnnouncedVersion(
                version: version, release: release.row, build: build, rules: candidates.map(\.row), message: message
            )
        }
    }

    // MARK: Messages

    /// The rules whose messages every client is sent, in order, each as a lockout where it is one to every client.
    func sentRules() -> [SentRule] {
        var sent: [SentRule] = []
        for candidate in candidates() {
            if candidate.isCertain, candidate.versions == nil || client.has(.version) {
                let isLockout = evaluator.isLockedOut(by: candidate.reference)
                sent.append(SentRule(id: candidate.reference.id, lockout: isLockout))
            }
            if candidate.flags.contains(.final) { break }
        }
        return sent
    }
}
