import ArgumentParser
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

            Without a number it is the newest change that is not undone yet, whoever made it. It is shown, and you are \
            asked. With --yes it must be yours, of the last hour: made with your login, by a command or in psql.

            With --to, the policy becomes again what it was, whoever changed it since, in one change. That shows its \
            impact, and asks as apply does.

            Examples:
              versiongate undo 41
              versiongate undo
              versiongate undo --to 37
              versiongate undo --to -2h
            """
    )

    @Argument(
        help: "The id of the change, as history shows it; the newest unless given.",
        transform: ChangeNumber.parse
    )
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

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func validate() throws {
        if let change, moment != nil {
            throw ValidationError("Give either a change or --to: \(PrintedCommand("undo \(change)"))")
        }
        if let change, change <= 0 {
            throw ValidationError("There is no change \(change); `\(PrintedCommand("history"))` lists the changes.")
        }
    }

    func run() async throws {
        if let moment { return try await restore(moment) }
        let id: Int64
        var doubts: [String] = []
        if let change {
            id = change
        } else {
            id = try await newestChange()
            doubts = ["this undoes change \(id)"]
        }
        try await options.edit(on: database, asksAboutRemovals: true, doubts: { [doubts] _ in doubts }) { editor in
            try PolicyHistory(editor.session).undo(id)
        }
    }

    /// How old one's own change may be that is taken back without a question, in microseconds.
    private static let longestUnasked: Int64 = 3_600_000_000

    /// The newest change that stands, which is shown.
    ///
    /// - Throws: `CommandError` that names it where nobody can be asked, and it is not surely the one that is meant.
    private func newestChange() async throws -> Int64 {
        let (change, role, now) = try await database.read { reports in
            let history = try reports.history
            return (try history.newestStanding(), try history.role(), try CommandClock(reports.session).now)
        }
        guard let change else {
            throw CommandError(
                "there is no change among the newest \(NumberText.count(Int64(PolicyHistory.mostSearched))) that is not undone; "
                    + "`\(PrintedCommand("history"))` lists all, and `\(PrintedCommand("undo CHANGE"))` undoes any of them"
            )
        }
        print(Terminal.standardOutput.paragraphs("The newest change: \(ChangeText.line(change))"))
        let isOld = now.microsecondsSince1970 - change.at.microsecondsSince1970 > Self.longestUnasked
        let doubt: String? =
            if options.dryRun || !options.yes && Terminal.canAsk {
                nil
            } else if !options.yes {
                "there is no terminal on which to ask"
            } else if change.role != role {
                "it is not yours"
            } else {
                isOld ? "it is more than an hour old" : nil
            }
        if let doubt {
            let command = PrintedCommand("undo \(change.id)\(options.yes ? " --yes" : "")")
            throw CommandError(
                "the newest change is \(change.id), and \(doubt); nothing was changed; if it is meant: \(command)"
            )
        }
        return change.id
    }

    /// Makes the policy what it was.
    private func restore(_ moment: PolicyMoment) async throws {
        let present = try await database.editedPolicy()
        let past = try await database.editedPolicy(at: moment)
        print(
            "Back to revision \(past.version.revision)\(past.change.map { " of \(TimeText.local($0.at))" } ?? ", an empty policy")."
        )
        let difference = PolicyDifference(from: present.policy, to: past.policy)
        var options = options
        if options.why == nil { options.why = "back to revision \(past.version.revision)" }
        do {
            try await options.edit(on: database, asksAboutRemovals: true) { editor in
                try editor.make(difference, from: present.version)
            }
        } catch let refusals as PolicyRefusals {
            let revision = past.version.revision
            throw CommandError(
                refusals.refusals.map { CommandError($0.error).description }.joined(separator: "\n")
                    + "\nNothing was changed. To fix that policy and apply it: "
                    + "\(PrintedCommand("export --revision \(revision) --output policy.yaml")); "
                    + "\(PrintedCommand("plan policy.yaml"))"
            )
        }
    }
}
