// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyFigures
import PolicyStore
import UpdatePolicy

/// `versiongate rule list`
struct RuleListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the rules: those that send messages first, those that are disabled or over last.",
        discussion: """
            STATUS is the same as in the view rule_status; `versiongate rule show` says why. Rules of one kind are in the \
            order of their messages, which is that of --format json as well.

            Examples:
              versiongate rule list --bundle com.example.doto
              versiongate rule list --search "please update"
            """
    )

    @Option(
        help: ArgumentHelp("Only the rules of this app, and those for every app.", valueName: "bundle"),
        completion: .bundles
    )
    var bundle: String?

    @Option(
        help: ArgumentHelp(
            "Only rules with this in their key, title, text, note or translations; case does not count.",
            valueName: "text"
        )
    )
    var search: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            if let bundle, try reports.app(bundle) == nil {
                try CommandError.noSuchApp(bundle, reports.session).printAsWarning()
            }
            switch output.format {
            case .json:
                print(try reports.rulesJSON(bundle: bundle, search: search))
            case .table:
                let rules = try reports.rules(
                    bundle: bundle,
                    search: search,
                    at: try CommandClock(reports.session).now
                )
                if let search, rules.isEmpty {
                    print("No rule\(bundle.map { " of \($0.visible())" } ?? "") has \"\(search.visible())\" in it.")
                    return
                }
                guard !rules.isEmpty else {
                    print(
                        "No rules\(bundle.map { " of \($0.visible())" } ?? ""). To add one: \(PrintedCommand("rule add --help"))"
                    )
                    return
                }
                print(Self.table(rules).text)
            }
        }
    }

    private static func table(_ rules: [(rule: Rule, status: RuleStatus)]) -> TextTable {
        var table = TextTable(
            "KEY",
            "STATUS",
            "LOCKOUT",
            "ROLLOUT",
            "APP",
            "WHO",
            "HINTS",
            "TITLE",
            silent: ["ROLLOUT": "100 %", "LOCKOUT": "no"]
        )
        let ranks = rules.map { rank($0.status.name) }
        for index in rules.indices.sorted(by: { (ranks[$0], $0) < (ranks[$1], $1) }) {
            let (rule, status) = rules[index]
            let hints = [
                rule.remind.map { "remind \($0)" }, rule.shows.map { "shows \($0)" },
                rule.skippable ? "skippable" : nil,
            ]
            table.add(
                rule.key,
                status.name.rawValue,
                rule.lockout ? (rule.lockoutWithoutUpdate ? "always" : "yes") : "no",
                "\(status.rollout) %",
                rule.bundle ?? "every app",
                rule.audience,
                hints.compactMap(\.self).joined(separator: ", "),
                rule.title
            )
        }
        return table
    }

    /// What sends messages comes before what may do so by itself, and that before what does not.
    private static func rank(_ name: RuleStatus.Name) -> Int {
        name.isSent ? 0 : name == .disabled || name == .ended ? 2 : 1
    }
}
