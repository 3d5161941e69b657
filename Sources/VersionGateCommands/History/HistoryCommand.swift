import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate history`
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show who changed what in the policy, the newest change first.",
        discussion: """
            The history has every edit, of the command line and of SQL, one entry for each transaction: its id, the \
            time, the database role that was logged in, and what the tool reported: in parentheses the user of the \
            operating system, then its name and the reason. Only the role is verified. Nothing is ever deleted from \
            the history.

            Where the details take more than 50 lines, each change is shown in one line; --details shows them all the \
            same.

            --follow prints no more than what is committed from now on (or after --after, from --since on), in the \
            order of the commits, each once, with --format json an object a line. It goes on when the database was \
            away, until it is interrupted or nobody reads what it prints. What reads it keeps the last id for --after.

            Examples:
              versiongate history
              versiongate history update-1.2
              versiongate history com.example.doto --search lockout
              versiongate history 41
              versiongate history --since -2h --until -1h --by anna
              versiongate history --oneline --limit 500
              versiongate history --format json --limit 1
              versiongate history --follow --format json --after 41
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Only changes of this rule, or of this app with all that belongs to it, or the change with this number.",
            valueName: "key|bundle|change"
        )
    )
    var subject: String?

    /// The detail in which a change is shown.
    enum Detail: String, EnumerableFlag {
        case oneline, details

        static func help(for value: Detail) -> ArgumentHelp? {
            switch value {
            case .oneline: "Show each change in one line."
            case .details: "Show every column of every row, however many there are."
            }
        }
    }

    /// The most lines of details that are shown without a request.
    private static let mostLines = 50

    /// The most changes that are shown without a request.
    private static let usualLimit = 50

    @Option(help: "The most changes to show. (default: \(Self.usualLimit))", transform: WholeNumber.parse)
    var limit: Int?

    @Flag(help: "Print changes as they are committed, the oldest first.")
    var follow = false

    @Option(
        help: ArgumentHelp("Only changes after the one with this number.", valueName: "change")
    )
    var after: Int64?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Only changes from this time on.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var since: TimeArgument?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Only changes up to this time.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var until: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Only changes with this in their reason, or in a row before or after; case does not count.",
            valueName: "text"
        )
    )
    var search: String?

    @Option(
        help: ArgumentHelp("Only changes of this database role, or user of the operating system.", valueName: "name")
    )
    var by: String?

    @Flag var detail: Detail?

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        if let limit, limit <= 0 { throw ValidationError("--limit is \(limit); it must be 1 or more.") }
        if let after, after < 0 { throw ValidationError("--after is \(after); it must be 0 or more.") }
        guard follow else { return }
        if limit != nil { throw ValidationError("--follow prints every change; leave --limit out.") }
        if until != nil { throw ValidationError("--follow does not end at a time; leave --until out.") }
        if after != nil, since != nil {
            throw ValidationError("--follow begins at one place; leave out --after or --since.")
        }
    }

    func run() async throws {
        guard follow else {
            return try await database.read { reports in
                let filter = try self.filter(CommandClock(reports.session))
                try warn(reports.history, reports.session)
                switch output.format {
                case .json: print(try reports.historyJSON(filter))
                case .table: print(text(try reports.history.changes(filter)))
                }
            }
        }
        let filter = try await database.read { try self.filter(CommandClock($0.session)) }
        try await HistoryFollower(database: database, start: { try start($0, filter) }) { reports, after, before in
            var filter = filter
            (filter.after, filter.before, filter.limit) = (after, before, Int(before - after))
            switch output.format {
            case .json: return try reports.historyObjects(filter)
            case .table:
                return try reports.history.changes(filter).map { text([$0]) + (detail == .oneline ? "" : "\n") }
            }
        }.run()
    }

    private func filter(_ clock: CommandClock) throws -> HistoryFilter {
        let begin = try since.map { try clock.moment($0, of: "--since") }
        if let begin, begin > clock.now {
            CommandError("--since is \(TimeText.local(begin)), which is still to come: nothing was changed since")
                .printAsWarning()
        }
        return HistoryFilter(
            subject: subject, since: begin, until: try until.map { try clock.moment($0, of: "--until") },
            author: by, search: search, after: after, limit: limit ?? Self.usualLimit
        )
    }

    /// The version after which changes are followed.
    private func start(_ reports: PolicyReports, _ filter: HistoryFilter) throws -> PolicyVersion {
        let history = try reports.history
        let newest = try PolicyReader.version(reports.session).revision
        if let since = filter.since { return try history.version(of: max(0, history.revision(at: since) - 1)) }
        if let after, after > newest {
            throw CommandError("there is no change \(after) to go on from; the newest is \(newest)")
        }
        return try history.version(of: after ?? newest)
    }

    /// Warns where there never was what the changes are asked for.
    private func warn(_ history: PolicyHistory, _ session: PostgresSession) throws {
        if let subject, try history.changes(HistoryFilter(subject: subject, limit: 1)).isEmpty {
            let all = "`\(PrintedCommand("history"))` lists the changes"
            if Int64(subject) != nil {
                CommandError("there is no change \(subject); \(all)").printAsWarning()
            } else {
                let names = try PolicyReader.ruleKeys(session) + PolicyReader.bundles(session)
                let similar = SimilarNames.of(subject, among: names).prefix(3).joined(separator: " or ")
                CommandError(
                    "the history has no rule and no app \(subject); \(similar.isEmpty ? all : "did you mean \(similar)?")"
                ).printAsWarning()
            }
        }
        if let by {
            let authors = try history.authors()
            if !authors.contains(by) {
                CommandError("there is no change by \(by); there are changes by \(authors.joined(separator: ", "))")
                    .printAsWarning()
            }
        }
    }

    private func text(_ changes: [PolicyChange]) -> String {
        if changes.isEmpty { return "No changes." }
        let terminal = Terminal.standardOutput
        let short = terminal.paragraphs(
            changes.map { ChangeText.line($0) }.joined(separator: "\n"), indentation: "    "
        )
        if detail == .oneline { return short }
        let rows = ChangeText(terminal: terminal, isWhole: detail == .details)
        let entries = changes.map { change in
            [ChangeText.line(change, hasSummary: false)] + change.rows.flatMap(rows.lines).map { "  \($0)" }
        }
        let lineCount = entries.reduce(entries.count - 1) { $0 + $1.count }
        guard detail == .details || lineCount <= Self.mostLines else {
            return "\(short)\n\nThe details take \(NumberText.count(Int64(lineCount))) lines; --details shows them."
        }
        return terminal.paragraphs(
            entries.map { $0.joined(separator: "\n") }.joined(separator: "\n\n"), indentation: "      "
        )
    }
}
