// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// What of a rule reaches the clients of one format, which ask without saying anything of themselves.
public struct FeedReach: Sendable, Equatable {
    /// Which clients something reaches.
    public enum Extent: Sendable, Equatable {
        /// All to whom the rule is sent.
        case all
        /// Those of them on this version of the operating system or a later one.
        case systems(from: String)
        /// None.
        case none
    }

    /// The client library.
    public let client: String

    /// The format that it reads.
    public let format: FeedFormat

    /// The platform of the app.
    public let platform: String

    /// Who is told that there is an update.
    public let announced: Extent

    /// Who is locked out.
    public let demanded: Extent

    /// What survives and what is lost, a sentence each.
    public let sentences: [String]
}

extension FeedReach {
    private struct Reader {
        let client: String
        let format: FeedFormat
        let platform: String
        let canDemand: Bool
        var flavour: AppcastReader?
    }

    private static let readers = [
        Reader(client: "iVersion", format: .iVersion, platform: "ios", canDemand: false),
        Reader(client: "Updates", format: .updates, platform: "ios", canDemand: true),
        Reader(client: "Prince of Versions", format: .princeOfVersions, platform: "ios", canDemand: true),
        Reader(client: "Prince of Versions", format: .princeOfVersions, platform: "android", canDemand: true),
        Reader(client: "look-ups of the App Store", format: .lookup, platform: "ios", canDemand: false),
        Reader(client: "upgrader", format: .appcast, platform: "android", canDemand: true, flavour: .flutter),
        Reader(client: "upgrader", format: .appcast, platform: "ios", canDemand: true, flavour: .flutter),
        Reader(client: "Sparkle", format: .appcast, platform: "macos", canDemand: true, flavour: .sparkle),
        Reader(client: "AppUpdater", format: .appUpdaterJSON, platform: "android", canDemand: false),
        Reader(client: "Android-Siren", format: .androidSiren, platform: "android", canDemand: true),
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
            let source = FeedSource(FeedQuestion(format: reader.format, bundle: bundle, query: query), policy, time)
            guard let app = source.app, app.platforms.contains(reader.platform),
                rule.platforms?.contains(where: { Platform($0) == Platform(reader.platform) }) ?? true
            else { return nil }
            return FeedReach(of: rule, reader, source, policy)
        }
    }

    private init(of rule: Rule, _ reader: Reader, _ source: FeedSource, _ policy: CompiledPolicy) {
        let said = Self.announcements(reader, source)
        func extent(_ announcements: [Announcement], _ version: (Announcement) -> AnnouncedVersion?) -> Extent {
            let holding = announcements.filter { announcement in
                version(announcement).map { version in
                    Self.isSayable(version, reader, source)
                        && version.rules.contains { policy.key(of: $0) == rule.key }
                } ?? false
            }
            // What every client is told, those on some systems are told too.
            if holding.contains(where: { $0.leastSystem == nil }) { return .all }
            return holding.first?.leastSystem.map { .systems(from: $0.text) } ?? .none
        }
        // Android-Siren has room for one version, and Updates demands without asking for the system.
        let announced = extent(said) { reader.format == .androidSiren ? $0.floor ?? $0.prompt : $0.prompt }
        let demanding = reader.format == .updates ? said.filter { $0.leastSystem == nil } : said
        // What is demanded stands beside what is announced.
        let demand = { (said: Announcement) -> AnnouncedVersion? in
            let isAlone = reader.format == .androidSiren
            return isAlone || said.prompt.map { Self.isSayable($0, reader, source) } ?? false ? said.floor : nil
        }
        let demanded = reader.canDemand && rule.lockout ? extent(demanding, demand) : .none
        client = reader.client
        format = reader.format
        platform = reader.platform
        self.announced = announced
        self.demanded = demanded
        sentences = Self.sentences(rule, reader, announced, demanded)
    }

    /// What the document is made of: what every client is told and, where there is room for it, what some systems are told.
    private static func announcements(_ reader: Reader, _ source: FeedSource) -> [Announcement] {
        guard let every = source.announcement(on: reader.platform) else { return [] }
        switch (reader.format, reader.flavour) {
        case (.updates, _), (.appcast, .sparkle),
            (.princeOfVersions, _) where reader.platform == "ios":
            return [source.announcement(beyond: every, on: reader.platform), every].compactMap(\.self)
        default:
            return [every]
        }
    }

    /// Whether a document has words for a version.
    private static func isSayable(_ version: AnnouncedVersion, _ reader: Reader, _ source: FeedSource) -> Bool {
        guard let app = source.app else { return false }
        switch (reader.format, reader.flavour) {
        case (.princeOfVersions, _) where reader.platform == "android": return version.buildNumber != nil
        case (.appcast, .sparkle): return version.buildNumber != nil && app.webLink(on: reader.platform) != nil
        case (.appcast, _), (.appUpdaterJSON, _), (.appUpdaterXML, _):
            return version.plainText != nil && app.webLink(on: reader.platform) != nil
        case (.lookup, _):
            return version.plainText != nil && app.storeID != nil && app.webLink(on: reader.platform) != nil
        case (.androidSiren, _): return version.buildNumber != nil
        default: return version.plainText != nil
        }
    }

    private static func sentences(_ rule: Rule, _ reader: Reader, _ announced: Extent, _ demanded: Extent) -> [String] {
        var sentences: [String] = []
        let name = reader.client
        switch announced {
        case .all: sentences.append("\(name) tells every client of the rule that there is an update.")
        case .systems(let least):
            sentences.append("\(name) tells clients on \(least) or later that there is an update.")
        case .none:
            sentences.append("\(name) tells nobody of it.")
            sentences += reasons(rule)
        }
        if rule.lockout {
            switch demanded {
            case .all: sentences.append("\(name) locks its clients out.")
            case .systems(let least): sentences.append("\(name) locks out clients on \(least) or later.")
            case .none where !reader.canDemand: sentences.append("\(name) cannot lock out.")
            case .none where announced != .none:
                sentences.append("\(name) locks nobody out: not every client has a way out, as far as is known.")
            case .none: break
            }
        }
        return sentences
    }

    /// Why clients of which nothing is known are not told.
    private static func reasons(_ rule: Rule) -> [String] {
        var members: [String] = []
        if rule.os != nil { members.append("os") }
        if rule.regions != nil { members.append("region") }
        if rule.languages != nil { members.append("language") }
        if rule.builds != nil { members.append("build") }
        members += (rule.attributes ?? []).map(\.name)
        if rule.rollout != .all || !rule.steps.isEmpty { members.append("install") }
        var reasons: [String] = []
        if !rule.enabled { reasons.append("The rule is not enabled.") }
        if !members.isEmpty {
            reasons.append("It depends on \(members.joined(separator: ", ")), which the address does not name.")
        }
        if rule.target == nil {
            reasons.append(
                "A document can say a rule only if it is sent to exactly the versions below one that can be had."
            )
        } else if reasons.isEmpty {
            reasons.append("The target cannot be had by every client, or a final rule before it may stop it.")
        }
        return reasons
    }
}
