// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// A document of a feed, and how it is sent.
public struct FeedDocument: Sendable, Equatable {
    /// The status: 200, or 400 for what no client of the format sends.
    public let status: Int

    /// The media type.
    public let contentType: String

    /// The document.
    public let bytes: [UInt8]

    /// The fields of the request that the document depends on.
    public let vary: [String]

    /// The document that answers a question: what a policy says, else one that its client takes as no news.
    ///
    /// That of a question without a format is empty: ``FeedSummary`` has what templates make theirs of.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - policy: The policy; `nil` where there is none yet.
    ///   - time: The time of the question.
    public init(answering question: FeedQuestion, by policy: CompiledPolicy?, at time: Timestamp) {
        let source = FeedSource(question, policy, time)
        let text =
            switch question.format {
            case .iVersion: IVersionFeed.text(source)
            case .updates: UpdatesFeed.text(source)
            case .princeOfVersions: PrinceOfVersionsFeed.text(source)
            case .appcast: AppcastFeed.text(source)
            case .lookup: LookupFeed.text(source)
            case .codePush, .codePushBefore: CodePushFeed.text(source)
            case .appUpdaterJSON: AppUpdaterFeed.json(source)
            case .appUpdaterXML: AppUpdaterFeed.xml(source)
            case .androidSiren: AndroidSirenFeed.text(source)
            case nil: ""
            }
        status = question.isComplete ? 200 : 400
        contentType = question.format?.contentType ?? "text/plain"
        bytes = Array(text.utf8)
        vary = question.vary
    }
}

/// What documents are made of: the app of a question, and what the policy says to its clients.
struct FeedSource {
    /// The most rules that can reach anybody; for an app with more nothing is announced.
    ///
    /// An announcement looks at each of them, which takes about 2 microseconds, and a document is made of up to three. The
    /// event loops that answer checks make them.
    static let maximumRules = 2_000

    let question: FeedQuestion
    let app: FeedApp?
    private let policy: CompiledPolicy?
    private let time: Timestamp
    private let isTooLarge: Bool

    init(_ question: FeedQuestion, _ policy: CompiledPolicy?, _ time: Timestamp) {
        self.question = question
        self.policy = policy
        self.time = time
        let app = policy.flatMap { FeedApp(question, in: $0) }
        self.app = app
        isTooLarge = app.map { policy?.activeRuleCount(ofApp: $0.bundle) ?? 0 > Self.maximumRules } ?? false
    }

    /// What the policy says to every client on a platform; `nil` where it says nothing.
    func announcement(on platform: String) -> Announcement? {
        guard !isTooLarge, let app, let policy, let client = question.client(of: app.bundle, on: platform) else {
            return nil
        }
        return policy.announcement(for: client, systemFamily: question.systemFamily(on: platform), at: time)
    }

    /// What the policy says to clients from a system on, where that is more.
    func announcement(beyond every: Announcement, on platform: String) -> Announcement? {
        guard let app, let policy, let client = question.client(of: app.bundle, on: platform) else { return nil }
        return policy.announcementForSomeSystems(
            beyond: every,
            for: client,
            systemFamily: question.systemFamily(on: platform),
            at: time
        )
    }

    /// The notes of an announced version, else the text of the message that announces it.
    func notes(of announced: AnnouncedVersion, on platform: String) -> String {
        app?.notes(of: announced.version, on: platform, in: question.language) ?? announced.message.text
    }
}

extension AnnouncedVersion {
    /// The version where all comparisons of clients agree about it: two to five numbers of up to nine digits, or one.
    var plainText: String? {
        let parts = version.text.split(separator: ".", omittingEmptySubsequences: false)
        let isPlain =
            parts.count <= 5
            && parts.allSatisfy { part in
                (1...9).contains(part.utf8.count)
                    && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
        return isPlain ? version.text : nil
    }

    /// The build as a whole number that 31 bits can hold; `nil` where it is none.
    var buildNumber: Int64? {
        guard let build, build.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int32(build), number > 0
        else { return nil }
        return Int64(number)
    }
}
