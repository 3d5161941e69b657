import ArgumentParser

/// `versiongate app`: the apps that rules are for.
struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Add, show, change, pause and remove apps.",
        discussion: """
            An app is identified by its bundle (or package) identifier; upper and lower case do not count. Add the \
            app before you write rules for it.

            Example:
              versiongate app add com.example.doto --name Doto
            """,
        subcommands: [
            AppAddCommand.self, AppListCommand.self, AppShowCommand.self, AppEditCommand.self, AppPauseCommand.self,
            AppResumeCommand.self, AppRemoveCommand.self,
        ]
    )
}
