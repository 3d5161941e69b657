import ArgumentParser
import PolicyStore
import Reports
import UpdatePolicy

struct CheckCommand: AsyncParsableCommand {
    static let configuration = command(
        "check", "Show the answer for a client, and why.",
        "versiongate check bundle=com.example.doto version=1.1 platform=ios",
        "versiongate check --explain --at +2h bundle=com.example.doto version=1.1 platform=ios",
        "versiongate check --revision 41 bundle=com.example.doto version=1.1 platform=ios",
        #"versiongate check --explain --as-of "yesterday 15:00" bundle=com.example.doto version=1.1 platform=ios"#,
        discussion: """
            The members are those of the request: bundle, version, build, platform, region, os, language, install, \
            manual, and any attribute that rules use.
            """
    )

    @Flag(help: "Say of each rule whether it is sent, and why.") var explain = false
    @Option(time: "Ask today's policy as if it were this time.") var at: TimeArgument?
    @Option(revision: "Ask the policy as it stood at this revision, by today's clock.") var revision: Int64?
    @Option(time: "Ask the policy and the clock as they were at this time.") var asOf: TimeArgument?
    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @Argument(
        help: ArgumentHelp("What the client sends.", valueName: "member=value"),
        completion: .list(ClientField.allCases.map { "\($0.name)=" }),
        transform: NamedValue.member
    )
    var members: [NamedValue]

    func validate() throws {
        if asOf != nil, at != nil || revision != nil {
            throw ValidationError("--as-of sets both the policy and the time; leave --at and --revision out.")
        }
        try WholeNumber.requireRevision(revision)
        _ = try client()
    }

    func run() async throws {
        let client = try client()
        for member in members where member.value.isEmpty {
            warn("\(member.name) is empty, and is treated as not sent; write a value")
        }
        let isPresent = at == nil && revision == nil && asOf == nil
        let (contents, time, changes, brake) = try await database.read { reports in
            let session = reports.session
            let clock = try CommandClock(session)
            let past = try asOf.map { try clock.moment($0, of: "--as-of") }
            let time = try past ?? at.map { try clock.moment($0, of: "--at") } ?? clock.now
            if at != nil, revision == nil, time < clock.now { Self.warnOfPast(time) }
            let revision = try past.map { try PolicyHistory(session).revision(at: $0) } ?? revision
            let policy = try PolicyReader.policy(session, revision: revision)
            let changes = explain ? try lastChanges(client, reports, policy, time) : [:]
            return (policy, time, changes, isPresent ? try reports.brake : nil)
        }
        if !isPresent {
            printError("By the policy at revision \(contents.revision), at \(TimeText.local(time)).\n")
        }
        CheckRemarks(client, in: contents, isPast: revision != nil || asOf != nil, command: PrintedCommand.text)
            .warnings.forEach { warn($0.visible()) }
        let policy = try CompiledPolicy(contents)
        let messages = policy.messages(for: client, at: time)
        if let brake, messages.contains(where: \.lockout) { warn(brake) }
        guard explain else {
            switch output.format {
            case .json: print(String(decoding: policy.answer(to: client, at: time).body, as: UTF8.self).visibleJSON)
            case .table: print(messages.text(on: .standardOutput))
            }
            return
        }
        output.print(Report.explanation(of: policy, client, at: time, changes: changes))
    }

    /// The last change of each rule that is sent, or that a brake or a fuse has stopped.
    private func lastChanges(
        _ client: Client,
        _ reports: PolicyReports,
        _ policy: Policy,
        _ time: Timestamp
    ) throws -> [String: String] {
        let explanations = Explanation.decidingFirst(try CompiledPolicy(policy).explain(client, at: time))
        let now = try reports.now
        return try CountReader(reports.session).ifReadable { _ in
            let history = try PolicyHistory(reports.session, rowsPerChange: 1)
            var changes: [String: String] = [:]
            for rule in explanations.prefix(50) {
                let filter = HistoryFilter(rule: rule.key, before: policy.revision + 1, limit: 1)
                guard let change = try history.changes(filter).first,
                    // What a brake or a fuse did, is also said of what is therefore not sent.
                    rule.match != nil || change.tool == "brake" || change.tool == "fuse"
                else { continue }
                let why = change.why.map { ": \($0)" } ?? ""
                changes[rule.key] =
                    "The last edit of it was \(change.origin.sentence.text(at: now, time: TimeText.local))\(why)."
            }
            return changes
        } ?? [:]
    }

    private static func warnOfPast(_ time: Timestamp) {
        let words = DatabaseWords(CommandContext.current.arguments).others.map { word in
            (word == "--at" ? "--as-of" : word.hasPrefix("--at=") ? "--as-of=\(word.dropFirst(5))" : word).shellWord
        }
        warn(
            "this is the answer of today's policy at \(TimeText.local(time)); for the policy as it was then: "
                + PrintedCommand.text(words.joined(separator: " "))
        )
    }

    private func client() throws -> Client { try NamedValue.client(members.map { ($0.name, $0.value) }) }
}

extension [Message] {
    func text(on terminal: Terminal) -> String {
        guard !isEmpty else { return "No messages." }
        return enumerated().flatMap { index, message -> [String] in
            let end = message.until.map { " until \(TimeText.local(Timestamp(secondsSince1970: $0)))" } ?? ""
            let lockout = message.lockout ? "  " + terminal.styled("LOCKOUT\(end)", .red) : ""
            let title = terminal.styled(message.title.visible(), .bold)
            let head = "\(index + 1). \(title)  [\(message.id.visible())]\(lockout)"
            let text = message.text.visible(keepsNewlines: true)
                .split(separator: "\n", omittingEmptySubsequences: false).map { terminal.paragraphs("   \($0)") }
            let others = [
                message.link.map { "   \($0.visible())" },
                message.hints.map { terminal.paragraphs("   \($0.sentence)") },
            ]
            return [terminal.paragraphs(head, indentation: "   ")] + text + others.compactMap(\.self)
        }.joined(separator: "\n")
    }
}

extension Report {
    static func explanation(
        of policy: CompiledPolicy,
        _ client: Client,
        at time: Timestamp,
        changes: [String: String]
    ) -> Report {
        let explanations = policy.explain(client, at: time)
        let messages = policy.messages(for: client, at: time)
        let headline: Sentence =
            switch messages.count {
            case _ where explanations.isEmpty: "No rules are for this client's app."
            case 0: "This client gets no message."
            case 1: "This client gets 1 message."
            default: "This client gets \(messages.count) messages."
            }
        let sentences = Explanation.decidingFirst(explanations).map { explanation in
            let text = explanation.sentence(for: client) { TimeText.local($0, from: time) }
            let hints = messages.first { $0.id == explanation.key }?.hints?.sentence
            return [text, hints, explanation.match, changes[explanation.key]].compactMap(\.self).joined(separator: " ")
        }
        let table = Table(
            ifEmpty: "", explanations,
            columns: [
                Column(nil, json: "position") { .data($0.position) }, Column(nil, json: "key") { .data($0.key) },
                Column(nil, json: "outcome") { .data($0.outcome.rawValue) },
                Column(nil, json: "condition") { .data($0.condition) },
                Column(nil, json: "expected") { .data($0.expected) }, Column(nil, json: "actual") { .data($0.actual) },
                Column(nil, json: "bucket") { .data($0.bucket) }, Column(nil, json: "rollout") { .data($0.rollout) },
                Column(nil, json: "release") { .data($0.release) },
            ]
        )
        return Report(at: time, ([headline] + sentences.map { Sentence($0) }).map { .hint($0) } + [.table(table)])
    }
}
