package import UpdatePolicy

/// What of a rule a document cannot say to the clients that read it.
package struct FeedLoss: Sendable, Equatable {
    package let key: String

    /// The platform whose clients are not told; `nil` where the document is for one platform alone.
    package let platform: String?

    /// What is lost and why, a sentence.
    package let reason: String
}

extension FeedLoss {
    /// What the answer to a question leaves out of the rules that are in force for the app, in the order of messages.
    package static func all(answering question: FeedQuestion, by policy: CompiledPolicy, at time: Timestamp)
        -> [FeedLoss]
    {
        let source = FeedSource(question, policy, time)
        guard let app = source.app else { return [] }
        let readers = Reader.all(question, app)
        return readers.flatMap { reader in
            reader.losses(source, app).map { key, reason in
                FeedLoss(key: key, platform: readers.count > 1 ? reader.platform : nil, reason: reason)
            }
        }
    }
}

/// The clients of one platform that read a document.
private struct Reader {
    let format: FeedFormat?
    let platform: String
    let carried: CarriedFormat

    /// Those that read the answer to a question, on the platforms that the app is on.
    static func all(_ question: FeedQuestion, _ app: FeedApp) -> [Reader] {
        let asked = question.platform.map { Platform($0).name }
        let readers: [(platform: String, carried: CarriedFormat)] =
            switch question.format {
            case .iVersion: [(asked ?? "ios", IVersionFeed.carried)]
            case .updates: [(asked ?? "ios", UpdatesFeed.carried)]
            case .lookup: [(asked ?? "ios", LookupFeed.carried)]
            case .princeOfVersions:
                [
                    ("android", PrinceOfVersionsFeed.carriedOnAndroid),
                    (asked == "macos" ? "macos" : "ios", PrinceOfVersionsFeed.carried),
                ]
            case .appcast where question.reader == .sparkle: [(asked ?? "macos", AppcastFeed.carriedToSparkle)]
            case .appcast: (asked.map { [$0] } ?? app.platforms).map { ($0, AppcastFeed.carriedToFlutter) }
            case nil: [(app.platform(of: question) ?? "", CarriedFormat(naming: .any))]
            }
        let known = readers.filter { app.platforms.contains($0.platform) }
        return (known.isEmpty ? Array(readers.prefix(1)) : known).map { platform, carried in
            Reader(format: question.format, platform: platform, carried: carried)
        }
    }

    /// What is lost of each rule that some client of the platform may be sent.
    func losses(_ source: FeedSource, _ app: FeedApp) -> [(key: String, reason: String)] {
        let rules = source.rules(on: platform)
        if let obstacle = obstacle(source, app) { return rules.map { ($0.key, obstacle) } }
        let said = announcements(source, carried.naming)
        let messages = format == nil ? source.messages(on: platform) ?? [] : []
        return rules.compactMap { rule in
            func announcing(_ version: (Announcement) -> AnnouncedVersion?) -> [Announcement] {
                said.filter { version($0)?.rules.contains { $0.key == rule.key } ?? false }
            }
            let message = messages.first { $0.id == rule.key }
            if message == nil, let reason = unannounced(rule, announcing(\.prompt), source) {
                return (rule.key, reason)
            }
            let demanding = announcing(\.floor).filter { $0.leastSystem == nil || carried.demandsBySystem }
            let isDemanded = !demanding.isEmpty && carried.lostLockout == nil || message?.lockout ?? false
            if !rule.lockout || isDemanded { return nil }
            return (
                rule.key,
                carried.lostLockout ?? "The lockout is left out: as far as is known, not every client has a way out."
            )
        }
    }

    /// Why nobody, or not everybody, is told what a rule says; `nil` where everybody is.
    private func unannounced(_ rule: Rule, _ announcing: [Announcement], _ source: FeedSource) -> String? {
        guard let last = announcing.last else {
            let prompts = announcements(source, .any).compactMap(\.prompt)
            let unnamed = prompts.first { $0.rules.contains { $0.key == rule.key } }
            return unnamed.map(obstacle(to:)) ?? reason(rule, source)
        }
        let range = rule.target == nil ? rule.versions.flatMap { VersionRange($0) } : nil
        if let version = last.prompt?.version, range?.hasVersions(from: version) ?? false {
            return "Clients below \(version.text) are told of it, and no others: it is the newest that they can get."
        }
        guard !announcing.contains(where: { $0.leastSystem == nil }), let least = last.leastSystem else { return nil }
        return "Clients on \(least.text) or later are told of it, and no others."
    }

    /// What the document is made of, in versions that can be named so.
    private func announcements(_ source: FeedSource, _ naming: VersionNaming) -> [Announcement] {
        let (some, every) = source.announcements(carried, on: platform, naming: naming)
        return [some, every].compactMap(\.self)
    }

    /// Why the document announces nothing whatever the rules are; `nil` where it may.
    private func obstacle(_ source: FeedSource, _ app: FeedApp) -> String? {
        if platform.isEmpty { return "The question names no platform." }
        if format == .appcast, source.question.reader == nil {
            return "The question does not say for whom: for=flutter or for=sparkle."
        }
        if !app.platforms.contains(platform) { return "The app has no release on \(platform)." }
        if carried.needsStoreID, app.storeID == nil { return "The app has no number in the App Store." }
        if carried.needsLink, app.webLink(on: platform) == nil {
            return "The app has no store link for \(platform) that begins with https."
        }
        return nil
    }

    /// Why the clients cannot be told a version.
    private func obstacle(to version: AnnouncedVersion) -> String {
        let text = version.version.text
        if case .numbers(let count, let greatest) = carried.naming {
            let bound = greatest < 999_999_999 ? " up to \(greatest)" : ""
            return
                "\(text) is not written as at most \(count) numbers\(bound) without leading zeros, so clients may misjudge it."
        }
        return
            "The clients compare builds. Of \(text) and a release below it the build must be a whole number, and builds must "
            + "grow with versions."
    }

    /// Why clients are not told, as far as it follows from what the question leaves open.
    private func reason(_ rule: Rule, _ source: FeedSource) -> String {
        let members = rule.membersAsked(at: source.time).filter { source.question.member($0) == nil }
        if !members.isEmpty {
            return "It depends on \(members.joined(separator: ", ")), which the question leaves open."
        }
        return rule.target == nil
            ? "A document can only say \"everybody below this version\"; this rule is for other versions, or not everybody can update."
            : "As far as is known, not every client can get \(rule.target ?? "it"), or a final rule comes before it."
    }
}
