import PolicyStore
import Postgres
import Reports
import UpdatePolicy

/// The form of `/try`: the members of a check, and the policy and the time to ask.
struct CheckForm {
    /// The app; nil where none is named, and so nothing asked.
    let bundle: String?
    /// The members of a check but for the install, as they were typed.
    private let members: [(name: String, value: String)]
    /// Those without a meaning of their own, a line `name=value` each.
    let attributes: String
    /// The revision; nil: the one that answers, or that of the time.
    let revision: Int64?
    /// The time that is asked as it was typed; empty: now.
    let time: String
    /// Whether the policy of the time is asked as well.
    private let isAsOf: Bool
    /// Whether the address had an install id, which is left out.
    let hadInstall: Bool

    /// Whether the policy of another time or revision is asked for.
    var isOfPast: Bool { revision != nil || isAsOf }

    init(_ question: PageQuestion) throws(PageProblem) {
        let given = question.members
        let (install, fields) = (ClientField.install.name, ClientField.allCases.map(\.name))
        revision = try question.number(
            "revision", from: 0, "This revision cannot be read", "a whole number, as /history has them"
        )
        if let other = Set(given.keys).subtracting(fields + ["attributes", "at", "as-of", "revision"]).min() {
            throw PageProblem(
                400, "This member is not known",
                "\(other) is not a member of a check; write other members as lines of attributes: name=value"
            )
        }
        let (at, asOf) = ((given["at"] ?? "").trimmed, (given["as-of"] ?? "").trimmed)
        if !asOf.isEmpty, !at.isEmpty || revision != nil {
            throw PageProblem(
                400, "This question names two times",
                "as-of sets both the policy and the time; leave at and revision out."
            )
        }
        (time, isAsOf) = (asOf.isEmpty ? at : asOf, !asOf.isEmpty)
        let lines = (given["attributes"] ?? "").split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let kept = lines.filter { $0.prefix { $0 != "=" }.trimmed != install }
        hadInstall = given[install] != nil || kept.count < lines.count
        attributes = kept.joined(separator: "\n")
        bundle = question.value(ClientField.bundle.name)
        let others = kept.map { line in
            let pair = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: pair.first?.trimmed ?? "", value: pair.count > 1 ? pair[1].trimmed : "")
        }
        members =
            fields.filter { $0 != install }.compactMap { name in question.value(name).map { (name: name, value: $0) } }
            + others.filter { !$0.name.isEmpty }
    }

    /// The client that the question describes.
    func client() throws(ClientError) -> Client {
        var client = Client()
        for (name, value) in members { try client.set(UTF8Text(name), inQuery: UTF8Text(value)) }
        try client.validate()
        return client
    }

    /// The time that is asked; nil where it cannot be read.
    func time(now: Timestamp) -> Timestamp? { time.isEmpty ? now : Timestamp(onPage: time) }

    /// Whether another policy is asked than that in memory, and there is all that it takes to read it.
    func asksPast(present: Int64?, at time: Timestamp?) -> Bool {
        bundle != nil && (revision.map { $0 != present } ?? (isAsOf && time != nil))
    }

    /// The policy of the app as it stood at the revision or the time.
    func policy(_ session: PostgresSession, at time: Timestamp?) throws -> CompiledPolicy {
        let revision = try revision ?? time.map { try PolicyHistory(session).revision(at: $0) } ?? 0
        return try CompiledPolicy(PolicyReader.policy(session, bundles: bundle.map { [$0] } ?? [], revision: revision))
    }

    /// The same question on the command line and in SQL.
    ///
    /// - Parameter time: The time that is asked; nil where it cannot be read.
    func sameQuestion(at time: Timestamp?) -> Report.Edit {
        // As the page has read it: without an offset, a command takes a time for one of its own zone.
        let text = self.time.isEmpty ? nil : time.map { "\($0)" } ?? self.time
        let options = [
            text.map { "\(isAsOf ? "--as-of" : "--at") \($0.shellWord)" }, revision.map { "--revision \($0)" },
        ]
        let words = ["check --explain"] + options.compactMap(\.self) + members.map { "\($0)=\($1)".shellWord }
        let object = members.map { name, value in
            "\(JSONString.literal(name)): \(name == ClientField.manual.name ? value : JSONString.literal(value))"
        }.joined(separator: ", ")
        let arguments = ["{\(object)}", text].compactMap { $0?.sqlLiteral }
        return Report.Edit(
            "Ask the same", command: words.joined(separator: " "),
            // The database has the present policy alone, and may refuse a time that the page cannot read.
            sql: isOfPast || time == nil
                ? nil : "SELECT * FROM explain_check(\(arguments.joined(separator: ", ")));"
        )
    }
}
