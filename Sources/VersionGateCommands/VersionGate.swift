// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import ArgumentParser

/// The `versiongate` command.
public struct VersionGate: AsyncParsableCommand {
    /// What the command is called and consists of.
    public static let configuration = CommandConfiguration(
        commandName: "versiongate",
        abstract: "A forced-update policy server for apps.",
        discussion: """
            Apps call the server once at startup and are told what to show: please update, this version is blocked,
            maintenance until 18:00. The rules live in PostgreSQL; edit them with these commands or with SQL.

            Without --database-url and DATABASE_URL, everything works on a private PostgreSQL in the state folder.
            Times are written in ISO 8601 with an offset (2026-03-01T12:00:00Z) or relative to now (+2h).

            Colours are shown on a terminal, unless NO_COLOR is set. Exit codes: 0 done, 1 refused or failed, 64 the
            command line cannot be understood, and 2 when plan finds differences.

            Example, a server and a first check:
              versiongate serve
              versiongate check bundle=com.example.doto version=1.1 platform=ios
            """,
        version: versionText,
        groupedSubcommands: [
            CommandGroup(name: "Running:", subcommands: [ServeCommand.self, MigrateCommand.self]),
            CommandGroup(
                name: "Editing the policy:",
                subcommands: [AppCommand.self, ReleaseCommand.self, RuleCommand.self]
            ),
            CommandGroup(
                name: "The policy as a file:",
                subcommands: [ExportCommand.self, PlanCommand.self, ApplyCommand.self]
            ),
            CommandGroup(
                name: "Asking:",
                subcommands: [
                    CheckCommand.self, ImpactCommand.self, StatsCommand.self, HistoryCommand.self, UndoCommand.self,
                ]
            ),
            CommandGroup(name: "The database:", subcommands: [DatabaseCommand.self]),
            CommandGroup(name: "The shell:", subcommands: [CompletionsCommand.self, CommandReferenceCommand.self]),
        ]
    )

    /// The version of this program.
    public static let versionText = "0.1.0"

    /// Creates the command; the argument parser fills it in.
    public init() {}
}
