import ArgumentParser
import PolicyStore

/// `versiongate app pause`
struct AppPauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Answer the checks of an app, or of every app, with no messages, whatever the rules say.",
        discussion: """
            After --all, undo resumes exactly the apps that it paused. Rules for every app go on for clients whose app \
            was not added; a warning names them.

            Examples:
              versiongate app pause com.example.doto \\
                --why "the store is down"
              versiongate app pause --all
            """
    )

    @OptionGroup var apps: AppSelection
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(on: database) { editor in
            try apps.set(paused: true, editor)
        } remarks: { session in
            guard apps.all else { return [] }
            return try PolicyReader.activeRulesForEveryApp(session).map { key in
                "Warning: rule \(key) is for every app, so clients whose app was not added still get it "
                    + "(\(PrintedCommand("rule disable \(key)")))"
            }
        }
    }
}
