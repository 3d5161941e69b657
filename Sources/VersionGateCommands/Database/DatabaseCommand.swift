import ArgumentParser

/// `versiongate database`: the way to the database itself.
struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database",
        abstract: "Show the address of the database, or open psql on it.",
        discussion: """
            Example:
              versiongate database psql
            """,
        subcommands: [DatabaseURLCommand.self, DatabasePsqlCommand.self]
    )
}
