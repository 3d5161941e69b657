// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule show`
struct RuleShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a rule with its texts, its planned steps and what its ranges mean.",
        discussion: """
            Example:
              versiongate rule show update-1.2
            """
    )

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            guard let rule = try reports.rule(key) else {
                throw CommandError.noSuchRule(key, among: try PolicyReader.ruleKeys(reports.session))
            }
            switch output.format {
            case .json:
                print(rule.json)
            case .table:
                let ranges: Set = ["versions", "builds", "os"]
                print(
                    RecordText(
                        rule.fields.map { field in
                            guard ranges.contains(field.name), let range = field.value,
                                let meaning = try? VersionRange(range).inWords
                            else { return field }
                            return RecordField(name: field.name, value: "\(range) (\(meaning))")
                        }
                    ).text
                )
                if !rule.steps.isEmpty {
                    print("\n" + RampChart(steps: rule.steps, now: try CommandClock(reports.session).now).text)
                }
            }
        }
    }
}
