/// What a policy says to every client that may read one document, whatever the document's asker did not say about it.
package struct Announcement: Sendable {
    /// The version to announce: every client below it is sent a message that asks for it, or for one that nobody can get
    /// yet, and can update to it.
    package let prompt: AnnouncedVersion?

    /// The version to demand, never above ``prompt``: every client whose numbers are below its numbers is locked out.
    ///
    /// Its own pre-releases are not: an app that calls itself 1.2.0-play may be the very release 1.2.0.
    package let floor: AnnouncedVersion?

    package let latest: Release?

    /// Which systems the announcement holds for, where that is not all of them: this version and later ones.
    package let leastSystem: AppVersion?
    package let storeLink: String?
}

/// Whether every client that a question describes is locked out.
package enum CertainLockout: Equatable, Sendable {
    /// Some may not be.
    case open
    /// Each is, first by the rule with this key.
    case rule(String)
    /// It takes more steps to know.
    case unfinished
}

package struct AnnouncedVersion: Sendable {
    /// The version as its release spells it, else as a rule does.
    package let version: AppVersion

    /// A release that every client can get: that of the version where there is one, else the least offer.
    package let release: Release

    /// For clients that compare builds: the least that nobody with a lower version can have, so that nobody is asked to update
    /// who has the version, whichever build of it (``RecordedBuilds/threshold(below:)``); the build of the release where the
    /// question names the client's version.
    package let build: String?

    /// The rules whose messages the announcement stands for, in the order of messages.
    package let rules: [Rule]

    /// The message of the rule among them that reaches furthest, the first of equal ones.
    package let message: Message

    /// The least of how often one installation may be shown the messages of those rules; `nil`: without limit.
    package var shows: Int64? { rules.compactMap(\.shows).min() }
}

extension CompiledPolicy {
    /// What the policy says to every client that a question describes: what the question does not say may be anything.
    ///
    /// - Parameters:
    ///   - client: The members that were sent; without a platform nothing is announced.
    ///   - systemFamily: The numbers that the version of the operating system begins with, where that is known and the
    ///     version was not sent: `17` for any 17.x.
    ///   - isRepresentable: Whether a version, of which the build may be known, can be announced or demanded; where one
    ///     cannot, a lower one is.
    /// - Returns: `nil` where the policy has nothing about the app, or it is paused.
    package func announcer(
        for client: Client,
        systemFamily: String? = nil,
        at time: Timestamp,
        where isRepresentable: @escaping (AppVersion, _ build: String?) -> Bool = { _, _ in true }
    ) -> Announcer? {
        guard let app = app(of: client), !app.isPaused else { return nil }
        let asker = Asker(client, ClientSystem(client, family: systemFamily))
        return Announcer(self, app, asker, at: time, where: isRepresentable)
    }

    /// Whether a rule locks out every client that a question describes, and which is the first.
    ///
    /// Whatever is not known of a client may be as if it had not been sent. So one that a check with the same members does not
    /// lock out is not asked further.
    ///
    /// - Parameter steps: How much may be looked at: each rule, and each release for each lockout.
    package func lockout(of client: Client, at time: Timestamp, within steps: Int = .max) -> CertainLockout {
        guard sendsLockouts, let app = app(of: client), app.listedBundle != nil else { return .open }
        let platform = platformNumbers.number(of: client)
        var sent: [SentRule] = []
        appendMatches(client, app, platform, time.microsecondsSince1970, to: &sent)
        let mayBeLockedOut = sent.contains { sent in
            group(of: sent.id, app)?.rules[Int(sent.id.index)].flags.contains(.lockout) ?? false
        }
        guard mayBeLockedOut else { return .open }
        let releases = app.releases(on: platform)?.releases.count ?? 0
        let groups = [app.rules, rulesForEveryApp].compactMap(\.self)
        guard groups.reduce(0, { $0 + $1.gates.count + $1.lockoutRules.count * releases }) <= steps else {
            return .unfinished
        }
        let certain = announcer(for: client, at: time)?.sentRules() ?? []
        return certain.first(where: \.lockout).map { .rule(key(of: $0.id)) } ?? .open
    }
}

extension Announcer {
    /// What the policy says to clients on some systems, where that is more than it says to every client: for documents
    /// that name the least system that an announcement is for, and whose readers heed it.
    ///
    /// - Parameter every: What is said to every client.
    /// - Returns: An announcement whose prompt is greater and which names its least system; `nil` where there is none.
    package func announcementForSomeSystems(beyond every: Announcement) -> Announcement? {
        if client.has(.os) { return nil }
        let system = evaluator.asker.system
        let releases = (list?.releases ?? []).filter { release in
            release.isLive(at: evaluator.time) && release.minOS.map { system.narrowed(to: $0) != nil } ?? false
        }
        func announcement(from release: JudgedRelease?) -> Announcement? {
            guard let minOS = release?.minOS, let text = release?.row.minOS, let narrowed = system.narrowed(to: minOS)
            else { return nil }
            let time = Timestamp(microsecondsSince1970: evaluator.time)
            return Announcer(policy, app, Asker(client, narrowed), at: time, where: isRepresentable)
                .announcement(leastSystem: AppVersion(text: text, key: minOS))
        }
        func isOnLess(_ left: JudgedRelease, _ right: JudgedRelease) -> Bool {
            guard let left = left.minOS, let right = right.minOS else { return false }
            return left < right
        }
        // First the system on which every release can be had, then the least one on which as much is announced.
        guard let most = announcement(from: releases.max(by: isOnLess)), let prompt = most.prompt,
            every.prompt.map({ $0.version < prompt.version }) ?? true
        else { return nil }
        let enough = announcement(from: releases.filter { !($0.version < prompt.version.key) }.min(by: isOnLess))
        return enough?.prompt?.version == prompt.version ? enough : most
    }

    /// The messages that are sent to every client, in order, each as a lockout where it is one to every client.
    ///
    /// - Returns: `nil` where they have more bytes together than ``largestMessages``.
    package func certainMessages() -> [Message]? {
        let sent = sentRules()
        var languages = TextLanguages()
        let size = sent.reduce(0) { size, sent in
            guard let group = policy.group(of: sent.id, app) else { return size }
            let index = Int(sent.id.index)
            return size + group.message(of: index, policy.textPlace(of: index, group, client, &languages)).count
        }
        if size > Self.largestMessages { return nil }
        return sent.compactMap { policy.message(of: $0, client, app, &languages) }
    }

    /// The most bytes that the messages of a document may have together.
    private static let largestMessages = 1 << 20
}

extension CompiledPolicy {
    /// What the policy has about an app; `nil` where it has nothing. ASCII case does not count.
    package func section(ofApp bundle: String) -> PolicySection? {
        appIndexes.number(of: bundle).flatMap { apps[$0].isEmpty ? nil : apps[$0].section }
    }

    /// What the policy has about the app with a number in the App Store; `nil` where there is none.
    package func section(ofStoreID storeID: Int64) -> PolicySection? {
        appsByStoreID[storeID].map { apps[$0].section }
    }
}
