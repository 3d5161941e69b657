package import UpdateFeeds
package import UpdatePolicy

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

    /// The values in it; of a list, those of its first item.
    var members: [String: TemplateValue] {
        switch self {
        case .text, .flag: [:]
        case .object(let members): members
        case .list(let items): items.first ?? [:]
        }
    }
}

/// What a template can show: what the policy says to every version of an app, by name. What there is not has no name.
package struct FeedValues: Sendable {
    let members: [String: TemplateValue]

    /// Values of which none is missing: what templates are checked against before there are others.
    static let shape: [String: TemplateValue] = [
        "bundle": .text(""), "name": .text(""), "store_link": .text(""), "prompt": .text(""), "floor": .text(""),
        "revision": .text(""),
        "latest": .object([
            "version": .text(""), "build": .text(""), "min_os": .text(""), "live_at": .text(""), "notes": .text(""),
        ]),
        "messages": .list([
            ["id": .text(""), "title": .text(""), "text": .text(""), "link": .text(""), "lockout": .flag(false)]
        ]),
    ]
}

extension FeedValues {
    /// What a policy says to the clients of a question, as far as a template shows it: on the platform that the question names,
    /// else on that of its User-Agent; without either, what is said on all.
    ///
    /// - Returns: nil where the policy has nothing about the app, or its messages are too large for a document.
    package init?(
        answering question: FeedQuestion,
        by policy: CompiledPolicy,
        at time: Timestamp,
        for template: ParsedTemplate
    ) {
        let source = FeedSource(question, policy, time)
        guard let app = source.app else { return nil }
        let platform = app.platform(of: question) ?? ""
        guard let messages = template.showsMessages ? source.messages(on: platform) : [] else { return nil }
        let said = source.announcement(on: platform, naming: .any)
        var members = Self.present([
            "bundle": app.bundle, "name": app.name, "store_link": said?.storeLink, "prompt": said?.prompt?.version.text,
            "floor": said?.floor?.version.text, "revision": "\(policy.revision)",
        ])
        members["latest"] = said?.latest.map { release in
            let notes = AppVersion(release.version).flatMap { app.notes(of: $0, on: platform, in: question.language) }
            return .object(
                Self.present([
                    "version": release.version, "build": release.build, "min_os": release.minOS,
                    "live_at": release.liveAt?.description, "notes": notes,
                ])
            )
        }
        members["messages"] = .list(messages.map(Self.members))
        self.init(members: members)
    }

    static func members(of message: Message) -> [String: TemplateValue] {
        present(["id": message.id, "title": message.title, "text": message.text, "link": message.link])
            .merging(["lockout": .flag(message.lockout)]) { $1 }
    }

    private static func present(_ members: [String: String?]) -> [String: TemplateValue] {
        members.compactMapValues { $0.map { .text($0) } }
    }
}
