// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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

            Examples:
              versiongate history
              versiongate history update-1.2
              versiongate history com.example.doto --search lockout
              versiongate history 41
              versiongate history --since -2h --until -1h --by anna
              versiongate history --oneline --limit 500
              versiongate history --format json --limit 1
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Only changes of this rule, or of this app with all that belongs to it, or the change with this number.",
            valueName: "key|bundle|change"
        ),
        completion: .historySubjects
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

    @Option(help: "The most changes to show.", transform: WholeNumber.parse)
    var limit = 50

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only changes from this time on.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var since: TimeArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only changes up to this time.", valueName: "time"),
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
        help: ArgumentHelp("Only changes of this database role, or user of the operating system.", valueName: "name"),
        completion: .authors
    )
    var by: String?

    @Flag var detail: Detail?

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit is \(limit); it must be 1 or more.") }
    }

    func run() async throws {
        try await database.read { reports in
            let session = reports.session
            let clock = try CommandClock(session)
            let filter = HistoryFilter(
                subject: subject,
                since: try since.map { try clock.moment($0, of: "--since", .past) },
                until: try until.map { try clock.moment($0, of: "--until", .past) },
                author: by,
                search: search,
                limit: limit
            )
            try warn(reports.history, session)
            switch output.format {
            case .json: print(try reports.historyJSON(filter))
            case .table: print(text(try reports.history.changes(filter)))
            }
        }
    }

    /// Warns where there never was what the changes are asked for.
    private func warn(_ history: PolicyHistory, _ session: PostgresSession) throws {
        if let subject, try history.changes(HistoryFilter(subject: subject, limit: 1)).isEmpty {
            let fault =
                Int64(subject) != nil
                ? CommandError("there is no change \(subject); `\(PrintedCommand("history"))` lists the changes")
                : CommandError.noSuchRule(
                    subject,
                    among: try PolicyReader.ruleKeys(session) + PolicyReader.bundles(session)
                )
            fault.printAsWarning()
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
            changes.map { ChangeLine.text($0) }.joined(separator: "\n"),
            indentation: "    "
        )
        if detail == .oneline { return short }
        let entries = changes.map { change in
            [ChangeLine.headline(change) + (change.why.map { "  \($0.visible())" } ?? "")]
                + change.rows.flatMap { ChangeReport.lines(for: $0, isWhole: detail == .details) }.map { "  \($0)" }
        }
        let lineCount = entries.reduce(entries.count - 1) { $0 + $1.count }
        guard detail == .details || lineCount <= Self.mostLines else {
            return "\(short)\n\nThe details take \(NumberText.count(Int64(lineCount))) lines; --details shows them."
        }
        return terminal.paragraphs(
            entries.map { $0.joined(separator: "\n") }.joined(separator: "\n\n"),
            indentation: "      "
        )
    }
}
