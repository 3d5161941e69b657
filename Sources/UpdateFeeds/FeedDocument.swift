package import UpdatePolicy

package struct FeedDocument: Sendable, Equatable {
    package let contentType: String
    package let bytes: [UInt8]

    /// The fields of the request that the document depends on.
    package let vary: [String]

    /// The document that answers a question: what a policy says, else one that its client takes as no news.
    ///
    /// That of a question without a format is empty: templates make theirs of a ``FeedSource``.
    package init(answering question: FeedQuestion, by policy: CompiledPolicy?, at time: Timestamp) {
        let source = FeedSource(question, policy, time)
        let text =
            switch question.format {
            case .iVersion: IVersionFeed.text(source)
            case .updates: UpdatesFeed.text(source)
            case .princeOfVersions: PrinceOfVersionsFeed.text(source)
            case .appcast: AppcastFeed.text(source)
            case .lookup: LookupFeed.text(source)
            case nil: ""
            }
        contentType = question.format?.contentType ?? "text/plain"
        bytes = Array(text.utf8)
        vary = question.vary
    }
}

/// What documents are made of: the app of a question, and what the policy says to its clients.
package struct FeedSource {
    package let app: FeedApp?
    let question: FeedQuestion
    private let policy: CompiledPolicy?
    let time: Timestamp

    package init(_ question: FeedQuestion, _ policy: CompiledPolicy?, _ time: Timestamp) {
        (self.question, self.policy, self.time) = (question, policy, time)
        app = policy.flatMap { FeedApp(question, in: $0) }
    }

    /// What asks the policy about the clients of the question on a platform, in versions that a format can name; `nil` where
    /// it has nothing about the app.
    private func announcer(on platform: String, naming: VersionNaming = .any) -> Announcer? {
        guard let app, let client = question.client(of: app.bundle, on: platform) else { return nil }
        let family = question.systemFamily(on: platform)
        return policy?.announcer(for: client, systemFamily: family, at: time, where: naming.canName)
    }

    /// What the policy says to every client on a platform, in versions that a format can name; `nil` where it says nothing.
    package func announcement(on platform: String, naming: VersionNaming) -> Announcement? {
        announcer(on: platform, naming: naming)?.announcement()
    }

    /// What every client on a platform is told and, where the document can say it, what clients from a system on are told.
    func announcements(_ format: CarriedFormat, on platform: String, naming: VersionNaming? = nil) -> (
        some: Announcement?, every: Announcement?
    ) {
        guard let announcer = announcer(on: platform, naming: naming ?? format.naming) else { return (nil, nil) }
        let every = announcer.announcement()
        let hasRoom = format.systems == .always || format.systems == .unlessLimited && every.prompt?.shows == nil
        return (hasRoom ? announcer.announcementForSomeSystems(beyond: every) : nil, every)
    }

    /// The messages that every client of the question is sent; `nil` where they are too large for a document.
    package func messages(on platform: String) -> [Message]? {
        guard let announcer = announcer(on: platform) else { return [] }
        return announcer.certainMessages()
    }

    /// The rules that some client of the question may be sent, in the order of messages.
    func rules(on platform: String) -> [Rule] { announcer(on: platform)?.possibleRules() ?? [] }

    /// The notes of an announced version, else the text of the message that announces it.
    func notes(of announced: AnnouncedVersion, on platform: String) -> String {
        app?.notes(of: announced.version, on: platform, in: question.language) ?? announced.message.text
    }
}

/// What a document can say to the clients that read it; each format declares its own.
struct CarriedFormat: Sendable {
    /// Whether there is room for an announcement to clients from a system on, beside that to every client.
    enum Systems {
        case never
        /// Only where clients are shown it without a limit.
        case unlessLimited
        case always
    }

    let naming: VersionNaming
    var systems = Systems.never
    /// Whether what is demanded of clients from a system on is demanded of them alone.
    var demandsBySystem = true
    /// What becomes of lockouts; `nil` where it can demand a version.
    var lostLockout: String?
    var needsLink = false
    var needsStoreID = false
}

/// The versions that the clients of a format can be told.
package enum VersionNaming: Sendable {
    /// Any: the client compares as the policy does.
    case any
    /// Numbers with dots, up to so many of them, each up to a greatest one, which may be another behind the first; without
    /// leading zeros, which some clients take for another number, and of one number or more.
    case numbers(upTo: Int, greatestBehindFirst: Int = greatest)
    /// What a client's integer holds, whatever it is.
    static let greatest = 999_999_999
    /// Those that have a build which is a whole number.
    case build

    func canName(_ version: AppVersion, build: String?) -> Bool {
        switch self {
        case .any: true
        case .numbers(let count, let greatest): Self.isNumbers(version.text, count, greatest)
        case .build: build.flatMap(AnnouncedVersion.number(of:)) != nil
        }
    }

    private static func isNumbers(_ text: String, _ count: Int, _ greatest: Int) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count <= count
            && parts.enumerated().allSatisfy { index, part in
                part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                    && (part == "0" || !part.hasPrefix("0"))
                    && Int(part).map { $0 <= (index == 0 ? Self.greatest : greatest) } ?? false
            }
    }
}

extension AnnouncedVersion {
    /// The build as a whole number that 31 bits can hold; `nil` where it is none.
    var buildNumber: Int64? { build.flatMap(Self.number(of:)) }

    fileprivate static func number(of build: String) -> Int64? {
        guard build.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int32(build), number > 0
        else { return nil }
        return Int64(number)
    }
}
