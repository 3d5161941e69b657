// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyFile
import PolicyStore
import Postgres

/// `versiongate plan`
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what applying a policy file would change.",
        discussion: """
            The file is the whole policy: what is not in it would be removed. The edits are made, judged by the
            database and taken back, so what is shown is what apply would do, and what would be refused is refused here.

            Exit codes: 0 if the policy is as the file says, 2 if there are differences, 1 if the file cannot be
            applied. Where the edits concern what clients get, their impact on recent checks is shown as well.

            Examples:
              versiongate plan policy.yaml
              git show main:policy.yaml | versiongate plan -
              versiongate plan policy.yaml --format json
            """
    )

    /// The exit code for "there are differences".
    static let differencesExist = ExitCode(2)

    @Argument(help: "The policy file; - reads standard input.")
    var file: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let source = try PolicySource(file)
        let present = try await database.policyRows()
        let difference = try source.difference(from: present.rows)
        let warnings = EditWarnings()
        let (change, impact) = try await database.withConnection(as: .admin, onNotice: warnings.tell) {
            connection,
            logger in
            try await Progress.showing("Trying the edits") {
                let rehearsal = try await source.explaining {
                    try await PolicyEditing(connection, logger: logger).rehearse { editor in
                        try editor.make(difference, from: present.version)
                    }
                }
                return (rehearsal?.change, try await EditImpact(of: rehearsal, connection))
            }
        }
        let report = PlanReport(
            revision: present.version.revision,
            change: change,
            impact: impact,
            file: file,
            terminal: .standardOutput
        )
        switch output.format {
        case .json: print(report.json)
        case .table: print(report.text)
        }
        if change != nil { throw Self.differencesExist }
    }
}
