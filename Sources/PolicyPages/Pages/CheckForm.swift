import PolicyStore
import Postgres
import UpdatePolicy

/// The form of `/try`: the members of a check, and the policy and the time to ask.
struct CheckForm {
    /// As they were typed.
    let members: [String: String]
    /// Those of a check with a meaning of their own, but for the install.
    let fields: [(field: ClientField, value: String)]
    /// Other members of a check, a line `name=value` each.
    let attributes: String
    /// The revision; nil: the one that answers.
    let revision: Int64?
    /// Whether the address had an install id, which is left out.
    let hadInstall: Bool

    init(_ members: [String: String]) throws(PageProblem) {
        self.members = members
        fields = ClientField.allCases.filter { $0 != .install }.compactMap { field in
            members[field.name].map { (field: field, value: $0) }
        }
        let lines = (members["attributes"] ?? "").split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let kept = lines.filter { $0.prefix { $0 != "=" }.trimmed != ClientField.install.name }
        hadInstall = members[ClientField.install.name] != nil || kept.count < lines.count
        attributes = kept.joined(separator: "\n")
        let revisionText = members["revision"] ?? ""
        revision = Int64(revisionText)
        if !revisionText.isEmpty, revision.map({ $0 < 0 }) ?? true {
            throw PageProblem(
                400, "This revision cannot be read",
                "revision is \"\(revisionText)\"; it must be a whole number, as /history has them."
            )
        }
        let names = Set(ClientField.allCases.map(\.name) + ["attributes", "at", "as-of", "revision"])
        if let other = members.keys.sorted().first(where: { !names.contains($0) }) {
            throw PageProblem(
                400, "This member is not known",
                "\(other) is no member of a check; write other members as lines of attributes: name=value"
            )
        }
        if !asOf.isEmpty, !at.isEmpty || !revisionText.isEmpty {
            throw PageProblem(
                400, "This question names two times",
                "as-of says both the policy and the time; leave at and revision out."
            )
        }
    }

    /// The time that is asked as it was typed; empty: now.
    private var at: String { (members["at"] ?? "").trimmed }
    /// The time whose policy and clock are asked, as it was typed; empty: ``at`` and ``revision`` say.
    var asOf: String { (members["as-of"] ?? "").trimmed }

    func value(_ field: ClientField) -> String { members[field.name] ?? "" }

    /// The app; nil where none is named, and so nothing asked.
    var bundle: String? { value(.bundle).isEmpty ? nil : value(.bundle) }

    /// The attributes by name.
    var lines: [(name: String, value: String)] {
        attributes.split(whereSeparator: \.isNewline).map { line in
            let pair = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (pair[0].trimmed, pair.count > 1 ? pair[1].trimmed : "")
        }.filter { !$0.name.isEmpty }
    }

    /// The client that the question describes.
    func client() throws(ClientError) -> Client {
        var client = Client()
        for (field, value) in fields { try client.set(field, to: .text(UTF8Text(value))) }
        for (name, value) in lines {
            try client.set(UTF8Text(name), to: .text(UTF8Text(value)))
        }
        try client.validate()
        return client
    }

    /// Whether the policy of another time or revision is asked for.
    var isOfPast: Bool { revision != nil || !asOf.isEmpty }

    /// The time that is asked as it was typed; empty: now.
    var timeText: String { asOf.isEmpty ? at : asOf }

    /// The time that is asked; nil where it cannot be read.
    func time(now: Timestamp) -> Timestamp? {
        timeText.isEmpty ? now : Timestamp(onPage: timeText)
    }

    /// The policy that is asked, if it is one of the past and there is all that it takes to read it.
    ///
    /// - Parameter present: The revision that answers now.
    func past(now: Timestamp, present: Int64?) -> Past? {
        guard let bundle else { return nil }
        if let revision { return revision == present ? nil : Past(bundle: bundle, revision: revision, time: nil) }
        guard !asOf.isEmpty else { return nil }
        return time(now: now).map { Past(bundle: bundle, revision: nil, time: $0) }
    }

    /// The policy of an app as it stood at a revision or a time.
    struct Past: Sendable {
        let bundle: String
        let revision: Int64?
        let time: Timestamp?

        func policy(_ session: PostgresSession) throws -> CompiledPolicy {
            let revision = try revision ?? time.map { try PolicyHistory(session).revision(at: $0) } ?? 0
            return try CompiledPolicy(PolicyReader.policy(session, bundles: [bundle], revision: revision))
        }
    }
}

extension Timestamp {
    /// A time as pages write it, in UTC where no offset says otherwise: `2026-11-22 14:05 UTC`, `2026-11-22`.
    init?(onPage text: String) {
        let spellings = [text, text.replacing(" UTC", with: "Z"), text + "Z", text + "T00:00Z"]
        guard let time = spellings.lazy.compactMap({ Timestamp($0) }).first else { return nil }
        self = time
    }
}

extension PageQuestion {
    /// A time of the query; nil: it has none.
    func time(_ name: String) throws(PageProblem) -> Timestamp? {
        guard let text = value(name) else { return nil }
        guard let time = Timestamp(onPage: text.trimmed) else {
            throw PageProblem(
                400, "This time cannot be read", "\(name) is \"\(text)\"; write it as 2026-11-22 14:05, in UTC."
            )
        }
        return time
    }
}
