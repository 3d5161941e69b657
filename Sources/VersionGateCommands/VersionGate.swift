package import ArgumentParser

/// The `versiongate` command.
package struct VersionGate: AsyncParsableCommand {
    /// The name, help and subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "versiongate",
        abstract: "A forced-update policy server for apps.",
        discussion: """
            Apps call the server once at startup. It answers with the messages to show: please update, this version \
            is blocked, maintenance until 18:00. The rules are in PostgreSQL; edit them with these commands or with \
            SQL.

            Without --database-url and DATABASE_URL, commands use a private PostgreSQL in the state folder.

            Write a time in ISO 8601 with an offset (2026-03-01T12:00:00Z), from now (+2h, -30m), or as PostgreSQL \
            reads it in the time zone of this machine (tomorrow 9:00, 2026-03-01 12:00); how it did is printed. The \
            clock of the database decides what now is.

            A terminal shows colours, unless NO_COLOR is set. Exit codes: 0 done, 1 refused or failed, 64 invalid \
            command line, and 2 when plan finds differences. versiongate --version prints the version, and versiongate \
            --generate-completion-script SHELL the completions for bash, zsh or fish.

            Example, a server and a first check:
              versiongate serve
              versiongate check bundle=com.example.doto version=1.1 \\
                platform=ios
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Server",
                subcommands: [ServeCommand.self, BrakeCommand.self, LockoutKeyCommand.self, MigrateCommand.self]
            ),
            CommandGroup(
                name: "Policy",
                subcommands: [
                    AppCommand.self, ReleaseCommand.self, RuleCommand.self, BlockCommand.self, FeedCommand.self,
                    StoreCommand.self,
                ]
            ),
            CommandGroup(name: "Policy file", subcommands: [ExportCommand.self, PlanCommand.self, ApplyCommand.self]),
            CommandGroup(
                name: "Query",
                subcommands: [
                    StatusCommand.self, CheckCommand.self, ImpactCommand.self, StatsCommand.self, HistoryCommand.self,
                    UndoCommand.self,
                ]
            ),
            CommandGroup(name: "Database", subcommands: [DatabaseCommand.self, UserCommand.self]),
        ]
    )

    /// The version of this program.
    package static let versionText = "0.1.0"

    /// Creates the command; the argument parser fills it in.
    package init() {}
}
