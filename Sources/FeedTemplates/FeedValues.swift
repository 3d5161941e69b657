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
    static let shape = FeedValues(
        bundle: "", name: "", storeLink: "", prompt: "", floor: "",
        latest: Release.complete, notes: "", messages: [Message(id: "", title: "", text: "", link: "")], revision: 0
    )

    /// - Parameters:
    ///   - latest: The release that users can get now.
    ///   - notes: What is new in it.
    package init(
        bundle: String,
        name: String,
        storeLink: String? = nil,
        prompt: String? = nil,
        floor: String? = nil,
        latest: Release? = nil,
        notes: String? = nil,
        messages: [Message] = [],
        revision: Int64
    ) {
        func present(_ members: [String: String?]) -> [String: TemplateValue] {
            members.compactMapValues { $0.map { .text($0) } }
        }
        var members = present([
            "bundle": bundle, "name": name, "store_link": storeLink, "prompt": prompt, "floor": floor,
            "revision": "\(revision)",
        ])
        members["latest"] = latest.map { release in
            .object(
                present([
                    "version": release.version, "build": release.build, "min_os": release.minOS,
                    "live_at": release.liveAt?.description, "notes": notes,
                ])
            )
        }
        members["messages"] = .list(
            messages.map { message in
                present(["id": message.id, "title": message.title, "text": message.text, "link": message.link])
                    .merging(["lockout": .flag(message.lockout)]) { $1 }
            }
        )
        self.members = members
    }

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
            bundle: summary.bundle, name: summary.name, storeLink: said?.storeLink, prompt: said?.prompt?.version.text,
            floor: said?.floor?.version.text, latest: said?.latest, notes: summary.notes, messages: summary.messages,
            revision: policy.revision
        )
    }
}

extension Release {
    /// A release with everything that templates show of one.
    fileprivate static var complete: Release {
        var release = Release.blank
        (release.build, release.minOS, release.liveAt) = ("", "", Timestamp(secondsSince1970: 0))
        return release
    }
}
