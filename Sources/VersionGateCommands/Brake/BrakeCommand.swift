import ArgumentParser

/// `versiongate brake`: sending lockouts as plain messages, server by server and without the database.
struct BrakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "brake",
        abstract: "Send every lockout as a plain message, on the servers of this machine.",
        discussion: """
            The brake is a file in the state folder of a server: run this on its machine, as a user who may write \
            there. It needs no database, holds over restarts, and is in force within a second.

            Example:
              versiongate brake on --why "incident 42"
            """,
        subcommands: [BrakeOnCommand.self, BrakeOffCommand.self]
    )
}
