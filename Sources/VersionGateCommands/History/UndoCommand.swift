import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

struct UndoCommand: AsyncParsableCommand {
    static let configuration = command(
        "undo", "Undo one change, or everything since a revision or a time, as a new change.",
        "versiongate undo 41", "versiongate undo", "versiongate undo --to 37", "versiongate undo --to -2h",
        discussion: """
            Only what the change did is undone, column by column. It is refused where a later change has set the same \
            columns. An undo can be undone.

            Without a number it is the newest change that is not undone yet, no matter who made it. It is shown, and \
            you are asked. With --yes it must be yours, and from the last hour: made with your login, by a command or \
            in psql.

            With --to, one change makes the policy what it was, no matter who changed it since. That shows its \
            impact, and asks as apply does.
            """
    )

    @Argument(help: "The id of the change, as history shows it; the newest unless given.", transform: changeNumber)
    var change: Int64?
    @Option(
        "revision|time", "Bring back the policy as it stood at a revision, or at a time, whoever changed it since.",
        PolicyMoment.parse
    )
    var to: PolicyMoment?
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    private static func changeNumber(_ argument: String) throws -> Int64 {
        if let number = Int64(argument) { return number }
        throw CommandError(
            "write a whole number, or none for the newest; the changes of a rule or an app have theirs in: "
                + "\(PrintedCommand("history \(argument.shellWord)"))"
        )
    }

    func validate() throws {
        if let change, to != nil {
            throw ValidationError("Give either a change or --to: \(PrintedCommand("undo \(change)"))")
        }
        if let change, change <= 0 {
            throw ValidationError("There is no change \(change); `\(PrintedCommand("history"))` lists the changes.")
        }
    }

    func run() async throws {
        if let to { return try await restore(to) }
        let id = if let change { change } else { try await newestChange() }
        let confirmations = change == nil ? ["this undoes change \(id)"] : []
        try await options.edit(
            on: database, asksAboutRemovals: true, confirmations: { _ in confirmations }, values: { _ in }
        ) { editor, _ in try PolicyHistory(editor.session).undo(id) }
    }

    /// The newest change that stands, which is shown. It is refused where nobody can be asked, and it is not surely the one
    /// that is meant: one's own, of the last hour.
    private func newestChange() async throws -> Int64 {
        let (change, role, now) = try await database.read { reports in
            let history = try reports.history
            return (try history.newestStanding(), try history.role(), try CommandClock(reports.session).now)
        }
        guard let change else {
            throw CommandError(
                "no change among the newest \(NumberText.count(Int64(PolicyHistory.mostSearched))) is left to undo; "
                    + "`\(PrintedCommand("history"))` lists all, and `\(PrintedCommand("undo CHANGE"))` undoes any of them"
            )
        }
        print(Terminal.standardOutput.paragraphs("The newest change: \(ChangeText.line(change))"))
        let isOld = now.microsecondsSince1970 - change.at.microsecondsSince1970 > 3_600_000_000
        let obstacles = [
            (!options.yes, "there is no terminal on which to ask"), (change.role != role, "it is not yours"),
            (isOld, "it is more than an hour old"),
        ]
        let isAskedAbout = options.dryRun || !options.yes && Terminal.canAsk
        if !isAskedAbout, let (_, obstacle) = obstacles.first(where: \.0) {
            let command = PrintedCommand("undo \(change.id)\(options.yes ? " --yes" : "")")
            throw CommandError(
                "the newest change is \(change.id), and \(obstacle); nothing was changed; if this is intended: \(command)"
            )
        }
        return change.id
    }

    private func restore(_ moment: PolicyMoment) async throws {
        let (present, past, change) = try await database.read { reports in
            let revision = try moment.revision(of: "--to", reports.session)
            let past = try PolicyReader.editedPolicy(reports.session, revision: revision)
            return (try PolicyReader.editedPolicy(reports.session), past, try reports.history.change(revision))
        }
        let revision = past.revision
        print("Back to revision \(revision)\(change.map { " of \(TimeText.local($0.at))" } ?? ", an empty policy").")
        let difference = PolicyDifference(from: present, to: past)
        var options = options
        options.why = options.why ?? "back to revision \(revision)"
        do {
            try await options.edit(on: database, asksAboutRemovals: true, values: { _ in }) { editor, _ in
                try editor.make(difference, from: present.version)
            }
        } catch let refusals as PolicyRefusals {
            throw CommandError(
                refusals.refusals.map { CommandError($0.error).description }.joined(separator: "\n")
                    + "\nNothing was changed. To fix that policy and apply it: "
                    + "\(PrintedCommand("export --revision \(revision) --output policy.yaml")); "
                    + "\(PrintedCommand("plan policy.yaml"))"
            )
        }
    }
}
