import PolicyStore
import Postgres
import UpdatePolicy

/// The question to `/try`: the members of a check, and the policy and the time to ask.
struct TryQuestion {
    /// The members with a meaning of their own, but for the install, as they were typed.
    private(set) var fields: [(field: ClientField, value: String)]
    /// Other members, a line `name=value` each.
    private(set) var attributes = ""
    /// The time as it was typed; empty: now.
    private(set) var at = ""
    /// The time whose policy and clock are asked, as it was typed; empty: ``at`` and ``revision`` say.
    private(set) var asOf = ""
    /// The revision; nil: the one that answers.
    private(set) var revision: Int64?
    private(set) var revisionText = ""
    /// Whether the address had an install id, which is left out.
    private(set) var hadInstall = false

    /// The fields of the form.
    static let fieldsOfForm = ClientField.allCases.filter { $0 != .install }

    init(_ members: [(name: String, value: String)]) throws(PageProblem) {
        fields = []
        for (name, value) in members {
            switch name {
            case "attributes":
                let lines = value.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                let kept = lines.filter { $0.prefix { $0 != "=" }.trimmed != ClientField.install.name }
                hadInstall = hadInstall || kept.count < lines.count
                attributes = kept.joined(separator: "\n")
            case "at": at = value
            case "as-of": asOf = value
            case "revision":
                revisionText = value
                guard !value.isEmpty else { continue }
                guard let number = Int64(value), number >= 0 else {
                    throw PageProblem(
                        400, "This revision cannot be read",
                        "revision is \"\(value)\"; it must be a whole number, as /history has them."
                    )
                }
                revision = number
            case "install": hadInstall = true
            default:
                guard let field = Self.fieldsOfForm.first(where: { $0.name == name }) else {
                    throw PageProblem(
                        400, "This member is not known",
                        "\(name) is no member of a check; write other members as lines of attributes: name=value"
                    )
                }
                fields.append((field, value))
            }
        }
        if !asOf.trimmed.isEmpty, !at.trimmed.isEmpty || !revisionText.isEmpty {
            throw PageProblem(
                400, "This question names two times",
                "as-of says both the policy and the time; leave at and revision out."
            )
        }
    }

    func value(_ field: ClientField) -> String { fields.last { $0.field == field }?.value ?? "" }

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
    var isOfPast: Bool { revision != nil || !asOf.trimmed.isEmpty }

    /// The time that is asked as it was typed; empty: now.
    var timeText: String { asOf.trimmed.isEmpty ? at.trimmed : asOf.trimmed }

    /// The time that is asked; nil where it cannot be read.
    func time(now: Timestamp) -> Timestamp? {
        let text = timeText
        guard !text.isEmpty else { return now }
        return Timestamp(text) ?? Timestamp(text.replacing(" UTC", with: "Z")) ?? Timestamp(text + "Z")
    }

    /// The policy that is asked, if it is one of the past and there is all that it takes to read it.
    ///
    /// - Parameter present: The revision that answers now.
    func past(now: Timestamp, present: Int64?) -> Past? {
        guard let bundle else { return nil }
        if let revision { return revision == present ? nil : Past(bundle: bundle, revision: revision, time: nil) }
        guard !asOf.trimmed.isEmpty else { return nil }
        return time(now: now).map { Past(bundle: bundle, revision: nil, time: $0) }
    }

    /// The policy of an app as it stood at a revision or a time.
    struct Past: Sendable {
        let bundle: String
        let revision: Int64?
        let time: Timestamp?

        func policy(_ session: PostgresSession) throws -> CompiledPolicy {
            let revision = try revision ?? time.map { try PolicyHistory(session).revision(at: $0) } ?? 0
            return try CompiledPolicy(PolicyReader.policy(session, ofApp: bundle, revision: revision))
        }
    }
}

extension StringProtocol {
    var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
