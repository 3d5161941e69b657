// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule list`
struct RuleListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the rules in the order of their messages.",
        discussion: """
            STATE is off, on, ended, or waiting: for its start, for a release that reaches its target, for a rollout \
            above 0 %, or for its app to be resumed. `versiongate rule show` says for what.

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
                CommandError.noSuchApp(bundle, among: try PolicyReader.bundles(reports.session)).printAsWarning()
            }
            switch output.format {
            case .json:
                print(try reports.rulesJSON(bundle: bundle, search: search))
            case .table:
                let rules = try reports.rules(bundle: bundle, search: search)
                if let search, rules.isEmpty {
                    print("No rule\(bundle.map { " of \($0.visible())" } ?? "") has \"\(search.visible())\" in it.")
                    return
                }
                guard !rules.isEmpty else {
                    print(
                        "No rules\(bundle.map { " of \($0.visible())" } ?? ""). To add one: versiongate rule add --help"
                    )
                    return
                }
                var table = TextTable(
                    "KEY",
                    "APP",
                    "STATE",
                    "VERSIONS",
                    "PLATFORMS",
                    "ROLLOUT",
                    "LOCKOUT",
                    "HINTS",
                    "TITLE",
                    silent: ["VERSIONS": "all", "PLATFORMS": "all", "ROLLOUT": "100 %", "LOCKOUT": "no"]
                )
                for rule in rules {
                    table.add(
                        rule.key,
                        rule.bundle ?? "every app",
                        rule.state,
                        rule.target.map { "below \($0)" } ?? rule.versions ?? "all",
                        rule.platforms ?? "all",
                        "\(rule.rollout) %",
                        rule.lockout,
                        rule.hints,
                        rule.title
                    )
                }
                print(table.text)
            }
        }
    }
}
