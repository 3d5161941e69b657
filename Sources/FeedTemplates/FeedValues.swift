package import UpdateFeeds
package import UpdatePolicy

/// What a template can show: what the policy says to every version of an app.
package struct FeedValues: Sendable, Equatable {
    /// The release that users can get now.
    package struct Latest: Sendable, Equatable {
        /// The version, as the release spells it.
        package var version: String
        /// The build, where it is recorded.
        package var build: String?
        /// The least version of the operating system, where it has one.
        package var minOS: String?
        /// Since when users can get it.
        package var liveAt: Timestamp?
        /// What is new in it.
        package var notes: String?

        /// A release.
        package init(
            version: String,
            build: String? = nil,
            minOS: String? = nil,
            liveAt: Timestamp? = nil,
            notes: String? = nil
        ) {
            self.version = version
            self.build = build
            self.minOS = minOS
            self.liveAt = liveAt
            self.notes = notes
        }
    }

    /// The bundle of the app.
    package var bundle: String
    /// The name of the app, else its bundle.
    package var name: String
    /// The link to the app in the store of the platform.
    package var storeLink: String?
    /// The version that everybody below is asked to get.
    package var prompt: String?
    /// The version below which nobody may go on.
    package var floor: String?
    /// The release that users can get now.
    package var latest: Latest?
    /// The messages that are sent, in order.
    package var messages: [Message]
    /// The revision of the policy.
    package var revision: Int64

    /// The values of an app.
    package init(
        bundle: String,
        name: String,
        storeLink: String? = nil,
        prompt: String? = nil,
        floor: String? = nil,
        latest: Latest? = nil,
        messages: [Message] = [],
        revision: Int64
    ) {
        self.bundle = bundle
        self.name = name
        self.storeLink = storeLink
        self.prompt = prompt
        self.floor = floor
        self.latest = latest
        self.messages = messages
        self.revision = revision
    }
}

extension FeedValues {
    /// What a policy says to the clients of a question, as far as a template shows it.
    ///
    /// - Returns: nil where the policy has nothing about the app, or its messages are too large for a document.
    package init?(
        answering question: FeedQuestion,
        by policy: CompiledPolicy,
        at time: Timestamp,
        for template: ParsedTemplate
    ) {
        let showsMessages = template.showsMessages
        guard let summary = FeedSummary(answering: question, by: policy, at: time, withMessages: showsMessages) else {
            return nil
        }
        let said = summary.announcement
        self.init(
            bundle: summary.bundle,
            name: summary.name,
            storeLink: said?.storeLink,
            prompt: said?.prompt?.version.text,
            floor: said?.floor?.version.text,
            latest: said?.latest.map { release in
                Latest(
                    version: release.version, build: release.build, minOS: release.minOS, liveAt: release.liveAt,
                    notes: summary.notes
                )
            },
            messages: summary.messages,
            revision: policy.revision
        )
    }
}

/// A value as templates see it.
enum TemplateValue: Sendable {
    case text(String)
    case flag(Bool)
    case object([String: TemplateValue])
    case list([[String: TemplateValue]])

    /// Whether a section of it is not written.
    var isEmpty: Bool {
        switch self {
        case .text, .object: false
        case .flag(let flag): !flag
        case .list(let items): items.isEmpty
        }
    }

    /// All values of an app by their names; what there is not has none.
    static func all(of values: FeedValues) -> [String: TemplateValue] {
        func text(_ text: String?) -> TemplateValue? { text.map { .text($0) } }
        let members: [String: TemplateValue?] = [
            "bundle": text(values.bundle),
            "name": text(values.name),
            "store_link": text(values.storeLink),
            "prompt": text(values.prompt),
            "floor": text(values.floor),
            "latest": values.latest.map { latest in
                let members: [String: TemplateValue?] = [
                    "version": text(latest.version), "build": text(latest.build), "min_os": text(latest.minOS),
                    "live_at": text(latest.liveAt?.description), "notes": text(latest.notes),
                ]
                return .object(members.compactMapValues(\.self))
            },
            "messages": .list(
                values.messages.map { message in
                    let members: [String: TemplateValue?] = [
                        "id": text(message.id), "title": text(message.title), "text": text(message.text),
                        "link": text(message.link), "lockout": .flag(message.lockout),
                    ]
                    return members.compactMapValues(\.self)
                }
            ),
            "revision": text("\(values.revision)"),
        ]
        return members.compactMapValues(\.self)
    }
}
