import ArgumentParser

/// The options that every command that edits takes, beside those of the database.
struct EditOptions: ParsableArguments {
    @Flag(help: "Approve removals and lockouts without a question.")
    var yes = false

    @Flag(help: "Show what would change and who it reaches, and change nothing.")
    var dryRun = false

    @Option(help: ArgumentHelp("Why this is done; kept in the history.", valueName: "text"))
    var why: String?
}
