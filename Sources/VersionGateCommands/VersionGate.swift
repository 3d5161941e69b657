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

            Write a time as a time of day in the time zone of this machine (22:00, tomorrow 9:00, friday 9:00), as a \
            date with a time (2026-03-01 12:00), in ISO 8601 with an offset (2026-03-01T12:00:00Z), or from now (+2h, \
            -30m). 22:00 is the next one, and the last one for --since and --to; how a time without an offset was \
            understood is printed. The clock of the database decides what now is.

            A terminal shows colours, unless NO_COLOR is set. Exit codes: 0 done, 1 refused or failed, 64 invalid \
            command line, and 2 when plan finds differences.

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
            CommandGroup(name: "Shell", subcommands: [CompletionsCommand.self]),
        ]
    )

    /// The version of this program.
    package static let versionText = "0.1.0"

    @Flag(name: .customLong("version"), help: "Show the version.")
    var showsVersion = false

    /// Creates the command; the argument parser fills it in.
    package init() {}
}
