import ArgumentParser

/// `versiongate release`: the versions that users can get.
struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Record which versions users can get, where and since when.",
        discussion: """
            Releases define when a client can get an update: rules with a target wait for them, and a lockout is \
            sent only to a client that has a release to go to.

            Example:
              versiongate release add com.example.doto 1.2 \\
                --platform ios
            """,
        subcommands: [
            ReleaseAddCommand.self, ReleaseListCommand.self, ReleaseEditCommand.self, ReleaseWithdrawCommand.self,
            ReleaseRemoveCommand.self, ReleaseNotesCommand.self,
        ]
    )
}
