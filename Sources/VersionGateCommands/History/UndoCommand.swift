// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyFigures
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate undo`
struct UndoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Undo one change, or everything since a revision or a time, as a new change.",
        discussion: """
            Only what the change did is undone, column by column. It is refused where a later change has set the \
            same columns. An undo can be undone.

            Without a number it is your last change that is not undone yet: that of your database role and your user \
            of the operating system. It is shown, and on a terminal you are asked.

            With --to, the policy becomes again what it was, whoever changed it since, in one change. That shows its \
            impact, and asks as apply does.

            Examples:
              versiongate undo 41
              versiongate undo
              versiongate undo --to 37
              versiongate undo --to -2h
            """
    )

    @Argument(help: "The id of the change, as history shows it; your last change unless given.")
    var change: Int64?

    @Option(
        name: .customLong("to"),
        parsing: .unconditional,
        help: ArgumentHelp(
            "Bring back the policy as it stood at a revision, or at a time.",
            valueName: "revision|time"
        ),
        transform: PolicyMoment.parse
    )
    var moment: PolicyMoment?

    @OptionGroup var options: EditOptions

    func validate() throws {
        if let change, moment != nil {
            throw ValidationError("Give either a change or --to: versiongate undo \(change)")
        }
        if let change, change <= 0 {
            throw ValidationError("There is no change \(change); `versiongate history` lists the changes.")
        }
    }

    func run() async throws {
        if let moment { return try await restore(moment) }
        let id: Int64 = if let change { change } else { try await lastChange() }
        try await options.edit { editor in
            do {
                try PolicyHistory(editor.session).undo(id)
            } catch let error as PostgresError where error.sqlState == .noDataFound {
                throw CommandError("there is no change \(id); `versiongate history` lists the changes")
            } catch let error as PostgresError where error.sqlState == .objectNotInPrerequisiteState {
                let lines = [error.message, error.detail].compactMap(\.self).joined(separator: "\n")
                throw CommandError(
                    "\(lines)\nHint: Undo the later changes first, the newest of them first. Or bring back the whole policy as it "
                        + "stood before, whoever changed it since: versiongate undo --to \(id - 1)"
                )
            }
        }
    }

    /// The last change of who runs this, which is shown and, on a terminal, asked about.
    private func lastChange() async throws -> Int64 {
        let author = options.author.osUser
        let (change, role, name) = try await options.database.withConnection(as: .admin) { connection, logger in
            let (change, role) = try await connection.transaction(.repeatableReadReadOnly) { session in
                try SchemaMigrator(logger: logger).status(session).requireReadable()
                let history = try PolicyHistory(session)
                return (try history.lastChange(by: author), try history.role())
            }
            return (change, role, try await options.database.databaseName(connection))
        }
        guard let change else {
            throw CommandError(
                "there is no change by \(role)\(author.map { " (\($0))" } ?? "") among the newest "
                    + "\(NumberText.count(Int64(PolicyHistory.mostSearched))) that is not undone; `versiongate history` lists "
                    + "the changes of everybody, and `versiongate undo CHANGE` undoes any of them"
            )
        }
        print(Terminal.standardOutput.paragraphs("Your last change: \(ChangeLine.text(change))"))
        if Terminal.canAsk, !options.yes, !options.dryRun {
            guard Terminal.confirms("Undo change \(change.id) on \(name.visible())?") else {
                throw CommandError("nothing was changed, as you said")
            }
        }
        return change.id
    }

    /// Makes the policy what it was.
    private func restore(_ moment: PolicyMoment) async throws {
        let present = try await options.database.editedPolicy()
        let past = try await options.database.editedPolicy(at: moment)
        print(
            "Back to revision \(past.version.revision)\(past.change.map { " of \(TimeText.local($0.at))" } ?? ", an empty policy")."
        )
        let difference = PolicyDifference(from: present.policy, to: past.policy)
        var options = options
        if options.why == nil { options.why = "back to revision \(past.version.revision)" }
        do {
            try await options.edit(asksAboutRemovals: true) { editor in
                try editor.make(difference, from: present.version)
            }
        } catch let refusals as PolicyRefusals {
            let revision = past.version.revision
            throw CommandError(
                refusals.refusals.map { CommandError($0.error).description }.joined(separator: "\n")
                    + "\nNothing was changed. To mend that policy and apply it: versiongate export --revision \(revision) "
                    + "--output policy.yaml; versiongate plan policy.yaml"
            )
        }
    }
}
