import ArgumentParser
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

/// `versiongate check`
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Show the answer for a client, and why.",
        discussion: """
            The members are those of the request: bundle, version, build, platform, region, os, language, install, \
            and any attribute that rules use.

            Examples:
              versiongate check bundle=com.example.doto version=1.1 \\
                platform=ios
              versiongate check --explain --at +2h \\
                bundle=com.example.doto version=1.1 platform=ios
              versiongate check --revision 41 bundle=com.example.doto \\
                version=1.1 platform=ios
              versiongate check --explain --as-of "yesterday 15:00" \\
                bundle=com.example.doto version=1.1 platform=ios

            --at moves the clock and keeps today's policy, --revision uses the policy as it stood and today's clock; \
            --as-of uses both as they were at that time.
            """
    )

    @Flag(help: "Say of each rule whether it is sent, and why.")
    var explain = false

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Ask as if it were this time.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var at: TimeArgument?

    @Option(
        help: ArgumentHelp("Ask the policy as it stood at this revision.", valueName: "number"),
        transform: WholeNumber.parse
    )
    var revision: Int64?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Ask the policy and the clock as they were at this time.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var asOf: TimeArgument?

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
            throw ValidationError("--as-of says both the policy and the time; leave --at and --revision out.")
        }
        if let revision, revision < 0 {
            throw ValidationError("There is no revision \(revision); revisions are counted from 0 on.")
        }
        _ = try client()
    }

    func run() async throws {
        let client = try client()
        for member in members where member.value.isEmpty {
            CommandError("\(member.name) is empty, and counts as not sent; write a value").printAsWarning()
        }
        let (contents, time, changes) = try await database.read { reports in
            let session = reports.session
            let clock = try CommandClock(session)
            let past = try asOf.map { try clock.moment($0, of: "--as-of") }
            let time = try past ?? at.map { try clock.moment($0, of: "--at") } ?? clock.now
            if at != nil, revision == nil, time < clock.now { Self.warnOfPast(time) }
            let revision = try past.map { try PolicyHistory(session).revision(at: $0) } ?? revision
            let policy = try PolicyReader.policy(session, revision: revision)
            return (policy, time, try facts(client, session, policy, time))
        }
        if at != nil || revision != nil || asOf != nil {
            printError("By the policy at revision \(contents.revision), at \(TimeText.local(time)).\n")
        }
        CheckRemarks(client, in: contents, isPast: revision != nil || asOf != nil, command: PrintedCommand.text).print()
        let policy = try CompiledPolicy(contents)
        guard explain else {
            switch output.format {
            case .json: print(String(decoding: policy.answer(to: client, at: time).body, as: UTF8.self).visibleJSON)
            case .table: print(MessagesText.text(policy.messages(for: client, at: time)))
            }
            return
        }
        output.print(Report.explanation(of: policy, client, at: time, changes: changes))
    }

    /// The change that was the last of each rule that is sent, or that a brake or a fuse has stopped. Warns where servers
    /// send its lockout as a plain message.
    private func facts(
        _ client: Client,
        _ session: PostgresSession,
        _ policy: Policy,
        _ time: Timestamp
    ) throws -> [String: String] {
        guard explain else { return [:] }
        let explanations = Explanation.decidingFirst(try CompiledPolicy(policy).explain(client, at: time))
        let isPresent = at == nil && revision == nil && asOf == nil
        if isPresent, explanations.contains(where: { $0.lockout && $0.outcome == .sent }),
            let brake = ServerSession.brake(of: try ServerSession.all(session))
        {
            CommandError(brake).printAsWarning()
        }
        let now = try CommandClock(session).now
        return try CountReader(session).ifReadable { _ in
            let history = try PolicyHistory(session, rowsPerChange: 1)
            var changes: [String: String] = [:]
            for rule in explanations.prefix(Self.mostOrigins) {
                let filter = HistoryFilter(rule: rule.key, before: policy.revision + 1, limit: 1)
                guard let change = try history.changes(filter).first,
                    // What a brake or a fuse did, is also said of what is therefore not sent.
                    rule.match != nil || change.tool == "brake" || change.tool == "fuse"
                else { continue }
                let last = LockoutShare.Change(id: change.id, at: change.at, role: change.role, tool: change.tool)
                let why = change.why.map { ": \($0)" } ?? ""
                changes[rule.key] =
                    "The last edit of it was \(last.sentence.text(at: now, time: TimeText.local))\(why)."
            }
            return changes
        } ?? [:]
    }

    /// Of how many rules the last change is looked for.
    private static let mostOrigins = 50

    /// The policy may have been another at a time in the past.
    private static func warnOfPast(_ time: Timestamp) {
        let words = DatabaseWords(CommandContext.current.arguments).others.map { word in
            (word == "--at" ? "--as-of" : word.hasPrefix("--at=") ? "--as-of=\(word.dropFirst(5))" : word).shellWord
        }
        CommandError(
            "today's policy answers, with the clock of \(TimeText.local(time)); for the policy of then: "
                + PrintedCommand.text(words.joined(separator: " "))
        ).printAsWarning()
    }

    private func client() throws -> Client {
        var client = Client()
        do throws(ClientError) {
            for member in members {
                try client.set(UTF8Text(member.name), to: .text(UTF8Text(member.value)))
            }
            try client.validate()
        } catch {
            throw ValidationError("\(error)")
        }
        return client
    }
}
