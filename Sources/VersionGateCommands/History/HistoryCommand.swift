// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore

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

            Examples:
              versiongate history
              versiongate history update-1.2
              versiongate history --format json --limit 1
            """
    )

    @Argument(help: "Only changes of this rule, its texts and its steps.", completion: .ruleKeys)
    var key: String?

    @Option(help: "The most changes to show.")
    var limit = 50

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            switch output.format {
            case .json:
                print(try reports.historyJSON(rule: key, limit: limit))
            case .table:
                let entries = try reports.history.changes(rule: key, limit: limit).map { change in
                    ([Self.headline(of: change)] + change.rows.flatMap(ChangeReport.lines).map { "  \($0)" })
                        .joined(separator: "\n")
                }
                print(entries.isEmpty ? "No changes." : entries.joined(separator: "\n\n"))
            }
        }
    }

    private static func headline(of change: PolicyChange) -> String {
        var line = "\(Terminal.standardOutput.styled("\(change.id)", .bold))  \(change.at)  \(change.role.visible())"
        if let osUser = change.osUser { line += " (\(osUser.visible()))" }
        if let tool = change.tool { line += "  \(tool.visible())" }
        if let undoes = change.undoes { line += "  undoes \(undoes)" }
        if let why = change.why { line += "  \(why.visible())" }
        return line
    }
}
