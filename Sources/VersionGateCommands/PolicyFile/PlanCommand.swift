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
            The file is the whole policy: what is not in it would be removed. The edits are made, checked by the \
            database and rolled back, so plan shows what apply would do, and refuses what apply would refuse.

            If the differences affect what clients get, plan shows their impact on recent checks, and whether apply \
            needs approval for lockouts. With --format json this is in impact (null if clients get the same): \
            checks, new_lockouts (how many of them would be newly locked out, at most) and consent (why apply needs \
            approval, or null).

            Exit codes: 0 if there are no differences, 2 if there are, 1 if the file cannot be applied.

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
        let policyFile = try PolicyFile(file)
        let present = try await database.editedPolicy()
        let difference = try policyFile.difference(from: present.policy)
        let (change, impact) = try await database.withConnection(as: .admin, onNotice: EditWarnings().print) {
            connection,
            logger in
            try await Progress.showing("Trying the edits") {
                let outcome = try await policyFile.explaining {
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
