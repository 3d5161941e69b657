import ArgumentParser

/// `versiongate store`: what the App Store says of the apps.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Record the releases that the App Store has.",
        discussion: """
            Example:
              versiongate store sync --country US --country JP
            """,
        subcommands: [StoreSyncCommand.self]
    )
}
