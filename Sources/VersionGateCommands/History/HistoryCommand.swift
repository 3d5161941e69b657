import ArgumentParser
import Glibc
import PolicyStore
import Postgres
import UpdatePolicy

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = command(
        "history", "Show who changed what in the policy, the newest change first.",
        "versiongate history", "versiongate history update-1.2",
        "versiongate history com.example.doto --search lockout", "versiongate history 41",
        "versiongate history --since -2h --until -1h --by anna", "versiongate history --oneline --limit 500",
        "versiongate history --format json --limit 1", "versiongate history --follow --format json --after 41",
        discussion: """
            The history has every edit, of the command line and of SQL, one entry for each transaction: its id, the \
            time, the database role that was logged in, and what the tool reported: in parentheses the user of the \
            operating system, then its name and the reason. Only the role is verified. Nothing is ever deleted from \
            the history.

            --follow prints no more than what is committed from now on (or after --after, from --since on), in the \
            order of the commits, each once, with --format json an object a line. It continues after the database \
            was away, until it is interrupted or nobody reads what it prints. What reads it keeps the last id for \
            --after.
            """
    )

    enum Detail: String, EnumerableFlag {
        case oneline, details

        static func help(for value: Detail) -> ArgumentHelp? {
            switch value {
            case .oneline: "Show each change in one line."
            case .details: "Show every column of every row, even if that takes more than \(mostLines) lines."
            }
        }
    }

    private static let mostLines = 50
    private static let usualLimit = 50

    @Argument(
        help: ArgumentHelp(
            "Only changes of this rule, or of this app with all that belongs to it, or the change with this number.",
            valueName: "key|bundle|change"
        )
    )
    var subject: String?
    @Option(help: "The most changes to show. (default: \(Self.usualLimit))", transform: WholeNumber.parse)
    var limit: Int?
    @Flag(help: "Print changes as they are committed, the oldest first.") var follow = false
    @Option("change", "Only changes after the one with this number.", WholeNumber.parse) var after: Int64?
    @Option(time: "Only changes from this time on.") var since: TimeArgument?
    @Option(time: "Only changes up to this time.") var until: TimeArgument?
    @Option("text", "Only changes with this in their reason, or in a row before or after; case is ignored.")
    var search: String?
    @Option("name", "Only changes of this database role, or user of the operating system.") var by: String?
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
                try warnOfUnknown(reports.history, reports.session)
                switch output.format {
                case .json:
                    let entries = try reports.historyObjects(filter)
                    print(entries.isEmpty ? "[]" : "[\n\(entries.joined(separator: ",\n"))\n]")
                case .table: print(text(try reports.history.changes(filter)))
                }
            }
        }
        try await followChanges(try await database.read { try self.filter(CommandClock($0.session)) })
    }

    private func filter(_ clock: CommandClock) throws -> HistoryFilter {
        let begin = try since.map { try clock.moment($0, of: "--since") }
        if let begin, begin > clock.now {
            warn("--since is \(TimeText.local(begin)), which is still to come: nothing was changed since")
        }
        return HistoryFilter(
            subject: subject, since: begin, until: try until.map { try clock.moment($0, of: "--until") }, author: by,
            search: search, after: after, limit: limit ?? Self.usualLimit
        )
    }

    /// The version after which changes are followed.
    private func start(_ reports: PolicyReports, _ filter: HistoryFilter) throws -> PolicyVersion {
        let history = try reports.history
        let newest = try PolicyReader.version(reports.session).revision
        if let since = filter.since { return try history.version(of: max(0, history.revision(at: since) - 1)) }
        if let after, after > newest {
            throw CommandError("there is no change \(after) to continue from; the newest is \(newest)")
        }
        return try history.version(of: after ?? newest)
    }

    private func warnOfUnknown(_ history: PolicyHistory, _ session: PostgresSession) throws {
        if let subject, try history.changes(HistoryFilter(subject: subject, limit: 1)).isEmpty {
            let isNumber = Int64(subject) != nil
            let names = isNumber ? [] : try PolicyReader.ruleKeys(session) + PolicyReader.bundles(session)
            let similar = CommandError.similar(to: subject, among: names)
            warn(
                (isNumber ? "there is no change" : "the history has no rule and no app") + " \(subject); "
                    + (similar ?? "`\(PrintedCommand("history"))` lists the changes")
            )
        }
        if let by, case let authors = try history.authors(), !authors.contains(by) {
            warn("there is no change by \(by); there are changes by \(authors.joined(separator: ", "))")
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

    /// Prints changes in the order of their commits, each once, until standard output is closed. SIGINT and SIGTERM end the
    /// process with 0.
    ///
    /// The row of the revision is the truth, and read every second; a notification only makes it quick. Ids follow commits
    /// without a gap, so the last one read is all that is kept over a connection that breaks.
    private func followChanges(_ filter: HistoryFilter) async throws {
        for number in [SIGINT, SIGTERM] { signal(number) { _ in _exit(EXIT_SUCCESS) } }
        var position: PolicyVersion?
        var isLost = false
        while true {
            var cause: (any Error)?
            var isLossOfConnection = true
            do {
                cause = try await database.withConnection(as: .admin) { connection, logger, name -> (any Error)? in
                    do {
                        try await SchemaMigrator(logger: logger).status(connection).requireReadable()
                        if isLost { printError("Connected to \(name.visible()) again.\n") }
                        isLost = false
                        try await followChanges(filter, on: connection, from: &position)
                        return nil
                    } catch {
                        guard await connection.isHealthy else { return error }
                        isLossOfConnection = false
                        throw error
                    }
                }
            } catch  where isLossOfConnection && position != nil {
                // The database was there before, so it will be again.
                cause = error
            }
            guard let cause else { return }
            if !isLost { printError("The connection to the database broke (\(cause)); trying again.\n") }
            isLost = true
            guard StandardStreams.flush() else { return }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    private func followChanges(
        _ filter: HistoryFilter,
        on connection: PostgresConnection,
        from position: inout PolicyVersion?
    ) async throws {
        var interval = Duration.milliseconds(500)
        if try await !connection.isPooled(), (try? await connection.listen(PolicyReader.channel)) != nil {
            interval = .seconds(1)
        }
        while true {
            let last = position
            let (reached, texts, isReplaced) = try await connection.transaction(.repeatableReadReadOnly) { session in
                try next(filter, after: last, PolicyReports(session))
            }
            if isReplaced {
                warn(
                    "the history of the database is not the one from before, as after a restore; it is followed from "
                        + "change \(reached.revision) on"
                )
            }
            for text in texts { print(text) }
            guard StandardStreams.flush() else { return }
            position = reached
            if reached == last { _ = try await connection.notifications(waitingUpTo: interval) }
        }
    }

    private func next(
        _ filter: HistoryFilter,
        after last: PolicyVersion?,
        _ reports: PolicyReports
    ) throws -> (reached: PolicyVersion, texts: [String], isReplaced: Bool) {
        guard let last else { return (try start(reports, filter), [], false) }
        let history = try reports.history
        let newest = try PolicyReader.version(reports.session).revision
        guard try last.revision <= newest && history.version(of: last.revision) == last else {
            return (try history.version(of: newest), [], true)
        }
        let end = min(newest, last.revision + 100)
        guard end > last.revision else { return (last, [], false) }
        var filter = filter
        (filter.after, filter.before, filter.limit) = (last.revision, end + 1, Int(end - last.revision))
        let texts =
            switch output.format {
            case .json: try reports.historyObjects(filter)
            case .table: try history.changes(filter).map { text([$0]) + (detail == .oneline ? "" : "\n") }
            }
        return (try history.version(of: end), texts.reversed(), false)
    }
}
