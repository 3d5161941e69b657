// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// What of a rule reaches the clients of one format, which ask without saying anything of themselves.
public struct FeedReach: Sendable, Equatable {
    /// Which clients something reaches.
    public enum Extent: Sendable, Equatable {
        /// All to whom the rule is sent.
        case all
        /// Those of them below this version, the newest that they can get, on this version of the operating system or later.
        case versions(below: String, system: String?)
        /// Those of them on this version of the operating system or a later one.
        case systems(from: String)
        /// None.
        case none
    }

    /// The client library.
    public let client: String

    /// The format that it reads.
    public let format: FeedFormat

    /// Whose appcast it reads; `nil` in other formats.
    public let reader: AppcastReader?

    /// The platform of the app.
    public let platform: String

    /// Who is told that there is an update.
    public let announced: Extent

    /// Who is locked out.
    public let demanded: Extent

    /// What survives and what is lost, a sentence each.
    public let sentences: [String]

    /// Whether clients learn anything of the rule.
    public var survives: Bool { announced != .none || demanded != .none }
}

extension FeedReach {
    private struct Reader {
        let format: FeedFormat
        let platform: String
        var canAnnounce = true
        let canDemand: Bool
        var flavour: AppcastReader?

        var client: String { flavour?.client ?? format.client }

        var naming: VersionNaming {
            switch format {
            case .iVersion: IVersionFeed.naming
            case .updates: UpdatesFeed.naming
            case .princeOfVersions:
                platform == "android" ? PrinceOfVersionsFeed.androidNaming : PrinceOfVersionsFeed.naming
            case .lookup: LookupFeed.naming
            case .appcast: flavour == .sparkle ? AppcastFeed.sparkleNaming : AppcastFeed.flutterNaming
            case .codePush, .codePushBefore: .any
            case .appUpdaterJSON, .appUpdaterXML: AppUpdaterFeed.naming
            case .androidSiren: AndroidSirenFeed.naming
            }
        }
    }

    private static let readers = [
        Reader(format: .iVersion, platform: "ios", canDemand: false),
        Reader(format: .iVersion, platform: "macos", canDemand: false),
        Reader(format: .updates, platform: "ios", canDemand: true),
        Reader(format: .updates, platform: "macos", canDemand: true),
        Reader(format: .princeOfVersions, platform: "ios", canDemand: true),
        Reader(format: .princeOfVersions, platform: "macos", canDemand: true),
        Reader(format: .princeOfVersions, platform: "android", canDemand: true),
        Reader(format: .lookup, platform: "ios", canDemand: false),
        Reader(format: .appcast, platform: "android", canDemand: true, flavour: .flutter),
        Reader(format: .appcast, platform: "ios", canDemand: true, flavour: .flutter),
        Reader(format: .appcast, platform: "macos", canDemand: true, flavour: .sparkle),
        Reader(format: .codePush, platform: "android", canAnnounce: false, canDemand: true),
        Reader(format: .codePush, platform: "ios", canAnnounce: false, canDemand: true),
        Reader(format: .appUpdaterJSON, platform: "android", canDemand: false),
        Reader(format: .androidSiren, platform: "android", canDemand: true),
    ]

    /// What of a rule reaches the clients of each format of one of its app's platforms.
    ///
    /// - Parameters:
    ///   - key: The rule's key.
    ///   - bundle: The app, also where the rule is for every app.
    ///   - policy: The policy.
    ///   - time: The time at which clients ask.
    /// - Returns: `nil` where the app has no such rule.
    public static func reach(
        of key: String,
        toApp bundle: String,
        in policy: CompiledPolicy,
        at time: Timestamp
    ) -> [FeedReach]? {
        let rows = policy.sections.filter {
            $0.app == nil || $0.app?.bundle == policy.section(ofApp: bundle)?.app?.bundle
        }
        guard let rule = rows.lazy.flatMap(\.rules).first(where: { UTF8Text($0.key) == UTF8Text(key) }) else {
            return nil
        }
        return readers.compactMap { reader in
            var query: [(name: String, value: String)] = [("platform", reader.platform)]
            if let flavour = reader.flavour { query.append(("for", flavour.rawValue)) }
            if reader.format == .lookup { query.append(("bundleId", bundle)) }
            if reader.format == .codePush { query.append(("deployment_key", bundle)) }
            let source = FeedSource(FeedQuestion(format: reader.format, bundle: bundle, query: query), policy, time)
            guard let app = source.app, app.platforms.contains(reader.platform),
                rule.platforms?.contains(where: { Platform($0) == Platform(reader.platform) }) ?? true
            else { return nil }
            return FeedReach(of: rule, reader, source, policy, at: time)
        }
    }

    private init(of rule: Rule, _ reader: Reader, _ source: FeedSource, _ policy: CompiledPolicy, at time: Timestamp) {
        let documentObstacle = Self.obstacle(reader, source)
        let said = documentObstacle == nil ? Self.announcements(reader, source, reader.naming) : []
        func isOfRule(_ version: AnnouncedVersion) -> Bool {
            version.rules.contains { policy.key(of: $0) == rule.key }
        }
        func extent(_ announcements: [Announcement], _ version: (Announcement) -> AnnouncedVersion?) -> Extent {
            let holding = announcements.filter { announcement in
                version(announcement).map { isOfRule($0) && Self.isComparedByAll($0, reader) } ?? false
            }
            let range = rule.target == nil ? rule.versions.flatMap { try? VersionRange($0) } : nil
            if let said = holding.last, let version = version(said), range?.hasVersions(from: version.version) ?? false
            {
                return .versions(below: version.version.text, system: said.leastSystem?.text)
            }
            // What every client is told, those on some systems are told too.
            if holding.contains(where: { $0.leastSystem == nil }) { return .all }
            return holding.first?.leastSystem.map { .systems(from: $0.text) } ?? .none
        }
        // Android-Siren has room for one version, and Updates demands without asking for the system.
        let shown = { (said: Announcement) in reader.format == .androidSiren ? said.floor ?? said.prompt : said.prompt }
        announced = reader.canAnnounce ? extent(said, shown) : .none
        let demanding = reader.format == .updates ? said.filter { $0.leastSystem == nil } : said
        demanded = reader.canDemand && rule.lockout ? extent(demanding, \.floor) : .none
        client = reader.client
        format = reader.format
        self.reader = reader.flavour
        platform = reader.platform

        guard announced != .none || demanded != .none else {
            let unnamed = (said + Self.announcements(reader, source, .any)).compactMap(shown).first(where: isOfRule)
            let obstacle = documentObstacle ?? unnamed.flatMap { Self.obstacle(to: $0, reader) }
            let isPaused = source.app.flatMap { policy.section(ofApp: $0.bundle)?.app?.paused } ?? false
            let other = said.filter { $0.prompt.map(isOfRule) ?? false }.compactMap(shown).first { !isOfRule($0) }
            if reader.format == .codePush {
                sentences =
                    rule.lockout
                    ? [
                        "Nothing survives for all clients at once.",
                        "CodePush tells version and install id, so one client may be told all the same.",
                    ] : ["Nothing survives.", "CodePush learns of lockouts alone."]
            } else if let other {
                sentences = [
                    "Nothing survives.", "The document has room for one version, which is that of \(other.message.id).",
                ]
            } else if reader.format == .androidSiren, let unnamed, let obstacle,
                AndroidSirenFeed.naming.canName(unnamed.version, build: unnamed.build)
            {
                sentences = [
                    "Nothing survives for all clients at once.", obstacle,
                    "So clients are told whose version has as many numbers as \(unnamed.version.text).",
                ]
            } else {
                sentences =
                    ["Nothing survives."]
                    + (obstacle.map { [$0] } ?? Self.reasons(rule, isPaused: isPaused, isSilent: said.isEmpty, at: time))
            }
            return
        }
        let version = said.compactMap(shown).first(where: isOfRule)
        sentences =
            Self.sentences(announced: announced, reader)
            + (rule.lockout
                ? Self.sentences(demanded: demanded, reader, floor: said.compactMap(\.floor).first(where: isOfRule))
                : [])
            + Self.sentences(words: rule, version?.message, reader)
            // A lockout is shown at every start.
            + (demanded == .all ? [] : Self.sentences(hints: rule, version?.shows, reader))
            + (reader.platform == "macos" && reader.flavour == nil ? ["The address must have ?platform=macos."] : [])
    }

    /// What the document is made of: what every client is told and, where there is room for it, what some systems are told.
    private static func announcements(
        _ reader: Reader,
        _ source: FeedSource,
        _ naming: VersionNaming
    ) -> [Announcement] {
        if reader.format == .updates {
            let (some, every) = UpdatesFeed.announcements(source, on: reader.platform, naming: naming)
            return [some, every].compactMap(\.self)
        }
        guard let every = source.announcement(on: reader.platform, naming: naming) else { return [] }
        switch (reader.format, reader.flavour) {
        case (.appcast, .sparkle),
            (.princeOfVersions, _) where reader.platform != "android":
            return [source.announcement(beyond: every, on: reader.platform, naming: naming), every].compactMap(\.self)
        default:
            return [every]
        }
    }

    /// Whether every client compares a version that it is told. Android-Siren compares a version without a build only where
    /// its own has as many numbers.
    private static func isComparedByAll(_ version: AnnouncedVersion, _ reader: Reader) -> Bool {
        reader.format != .androidSiren || version.buildNumber != nil
    }

    /// Why there is no document that announces anything; `nil` where there is one.
    private static func obstacle(_ reader: Reader, _ source: FeedSource) -> String? {
        if source.isTooLarge {
            return
                "The rules and releases of the app are more than \(CompiledPolicy.largestAnnouncement) together, so no "
                + "document announces anything. Disable rules that are not needed any more."
        }
        let needsLink =
            switch reader.format {
            case .lookup, .appUpdaterJSON, .appUpdaterXML, .appcast: true
            case .codePush, .codePushBefore, .princeOfVersions, .androidSiren, .iVersion, .updates: false
            }
        if reader.format == .lookup, source.app?.storeID == nil { return "The app has no number in the App Store." }
        if needsLink, source.app?.webLink(on: reader.platform) == nil {
            return "The app has no store link for \(reader.platform) that begins with https."
        }
        return nil
    }

    /// Why a client cannot be told a version; `nil` where it can be told any.
    private static func obstacle(to version: AnnouncedVersion, _ reader: Reader) -> String? {
        let text = version.version.text
        switch reader.naming {
        case .any: return nil
        case .numbers(let count, let greatest):
            let bound = greatest < 999_999_999 ? " up to \(greatest)" : ""
            return
                "\(text) is not written as at most \(count) numbers\(bound) without leading zeros, so clients may misjudge it."
        case .build, .buildOrNumbers:
            return
                "\(reader.client) compares builds. Of \(text) and a release below it the build must be a whole number, "
                + "and builds must grow with versions."
        }
    }

    private static func sentences(announced: Extent, _ reader: Reader) -> [String] {
        var sentences: [String] = []
        switch announced {
        case .all: sentences.append("All clients of the rule are told that there is an update.")
        case .versions(let newest, let system):
            let systems = system.map { " on \($0) or later" } ?? ""
            sentences.append("Clients of the rule below \(newest)\(systems) are told of it; the rule ends above it.")
        case .systems(let least):
            sentences.append("Clients of the rule on \(least) or later are told that there is an update.")
        case .none: return []
        }
        if reader.format == .androidSiren || reader.flavour == .sparkle
            || reader.format == .princeOfVersions && reader.platform == "android"
        {
            sentences.append(
                "Its builds must be recorded: those behind the greatest one below the version are not told."
            )
        }
        return sentences
    }

    private static func sentences(demanded: Extent, _ reader: Reader, floor: AnnouncedVersion?) -> [String] {
        let demand =
            switch (reader.format, reader.flavour) {
            case (.appcast, .sparkle): "cannot skip the update; they are not locked out"
            case (.appcast, _): "cannot ignore the update or put it off"
            case (.codePush, _), (.codePushBefore, _): "are told that they need a new binary"
            default: "are locked out"
            }
        switch demanded {
        case .all: return [reader.canAnnounce ? "They \(demand)." : "All clients of the rule \(demand)."]
        case .versions(let newest, _): return ["Those below \(newest) \(demand)."]
        case .systems(let least): return ["Those on \(least) or later \(demand)."]
        case .none where reader.format == .lookup && floor != nil:
            return ["The lockout is lost, except with upgrader: its clients cannot ignore the update or put it off."]
        case .none where !reader.canDemand: return ["The lockout is lost: the client has none."]
        case .none: return ["The lockout is lost: as far as is known, not every client of the rule has a way out."]
        }
    }

    /// What clients show of a rule.
    private static func sentences(words rule: Rule, _ message: Message?, _ reader: Reader) -> [String] {
        let shown: String
        var lost = ["the title"]
        switch reader.format {
        case .princeOfVersions: (shown, lost) = ("The app finds title, text and notes in the meta of the document", [])
        case .androidSiren: shown = "The text is shown"
        case .codePush, .codePushBefore: (shown, lost) = ("The app says so in its own words", ["title", "text"])
        default: shown = "The notes of the release are shown, else the text"
        }
        if let link = rule.link, link != "store" { lost.append("the link") }
        let loss = lost.isEmpty ? "" : "; \(lost.joined(separator: " and ")) \(lost.count == 1 ? "is" : "are") lost"
        guard let message, message.id != rule.key, reader.format != .codePush else { return ["\(shown)\(loss)."] }
        return ["\(shown)\(loss).", "A document has room for one message; it takes the words of \(message.id)."]
    }

    /// What clients know of how often the message may be shown.
    ///
    /// - Parameter shows: The limit of the announcement, which may be that of another rule.
    private static func sentences(hints rule: Rule, _ shows: Int64?, _ reader: Reader) -> [String] {
        var limit: Int64?
        switch reader.format {
        case .updates: limit = shows.map(UpdatesFeed.mostShows)
        case .princeOfVersions: limit = shows == nil ? nil : 1
        default: break
        }
        let kept = limit.map { limit in
            "It is shown \(limit == 1 ? "once" : "at most \(limit) times")"
                + (limit == rule.shows ? "." : ", which is less than the rule allows.")
        }
        var lost: [String] = []
        if rule.remind != nil { lost.append("remind") }
        if rule.shows != nil, limit == nil { lost.append("shows") }
        if rule.skippable { lost.append("skippable") }
        guard let last = lost.popLast() else { return [kept].compactMap(\.self) }
        let names = lost.isEmpty ? "\(last) is" : "\(lost.joined(separator: ", ")) and \(last) are"
        return [kept, "\(names) lost: that is set in the app."].compactMap(\.self)
    }

    /// Why clients of which nothing is known are not told.
    private static func reasons(_ rule: Rule, isPaused: Bool, isSilent: Bool, at time: Timestamp) -> [String] {
        var reasons: [String] = []
        if isPaused { reasons.append("The app is paused.") }
        if !rule.enabled { reasons.append("The rule is not enabled.") }
        if let startsAt = rule.startsAt, time < startsAt { reasons.append("The rule has not started yet.") }
        if let endsAt = rule.endsAt, endsAt <= time { reasons.append("The rule has ended.") }
        var members: [String] = []
        if rule.os != nil { members.append("os") }
        if rule.regions != nil { members.append("region") }
        if rule.languages != nil { members.append("language") }
        if rule.builds != nil { members.append("build") }
        members += (rule.attributes ?? []).map(\.name)
        let rollout = rule.steps.filter { $0.at <= time }.max { $0.at < $1.at }?.rollout ?? rule.rollout
        if rollout != .all { members.append("install") }
        if !members.isEmpty {
            reasons.append("The rule depends on \(members.joined(separator: ", ")), which clients do not tell.")
        }
        guard reasons.isEmpty else { return reasons }
        if isSilent { return ["The documents of this app announce nothing at all."] }
        return rule.target == nil
            ? [
                "A document says \"everybody below this version\"; the rule is for other versions, or not all can update."
            ]
            : ["As far as is known, not every client can get the target; or a final rule comes before it."]
    }
}
