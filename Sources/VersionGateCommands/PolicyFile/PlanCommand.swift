// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyDocument
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate plan`
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what applying a policy file would change.",
        discussion: """
            The file is the whole policy: what is not in it would be removed. The edits are made, judged by the
            database and taken back, so what is shown is what apply would do, and what would be refused is refused here.

            With differences that concern what clients get, their impact on recent checks is shown, and whether apply will
            ask for consent to lockouts. With --format json it is in impact (null where nothing is concerned): checks,
            new_lockouts (how many of them would be newly locked out, at most) and consent (why apply needs it, or null).

            Exit codes: 0 if the policy is as the file says, 2 if there are differences, 1 if the file cannot be
            applied.

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
        let present = try await database.editedPolicy()
        let difference = try source.difference(from: present.policy)
        let (change, impact) = try await database.withConnection(as: .admin, onNotice: EditWarnings().tell) {
            connection,
            logger in
            try await Progress.showing("Trying the edits") {
                let outcome = try await source.explaining {
                    try await PolicyEditing(connection, logger: logger).rehearse { editor in
                        try editor.make(difference, from: present.version)
                    }
                }
                guard case .needsReview(let edit, let before) = outcome else {
                    return (outcome.change, EditImpact?.none)
                }
                return (edit.change, try await EditImpact(of: edit, before: before, connection))
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
