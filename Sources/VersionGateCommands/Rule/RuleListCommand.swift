// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore

/// `versiongate rule list`
struct RuleListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the rules in the order of their messages.",
        discussion: """
            STATE is off, on, ended, or waiting: for its start, for a release that reaches its target, for a rollout \
            above 0 %, or for its app to be resumed. `versiongate rule show` says for what.

            Example:
              versiongate rule list --bundle com.example.doto
            """
    )

    @Option(
        help: ArgumentHelp("Only the rules of this app, and those for every app.", valueName: "bundle"),
        completion: .bundles
    )
    var bundle: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            switch output.format {
            case .json:
                print(try reports.rulesJSON(bundle: bundle))
            case .table:
                var table = TextTable("KEY", "APP", "STATE", "VERSIONS", "PLATFORMS", "ROLLOUT", "LOCKOUT", "TITLE")
                for rule in try reports.rules(bundle: bundle) {
                    table.add(
                        rule.key,
                        rule.bundle ?? "every app",
                        rule.state,
                        rule.target.map { "below \($0)" } ?? rule.versions ?? "all",
                        rule.platforms ?? "all",
                        "\(rule.rollout) %",
                        rule.lockout,
                        rule.title
                    )
                }
                print(table.text)
            }
        }
    }
}
