import ArgumentParser

/// `versiongate app resume`
struct AppResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let the rules answer the checks of an app, or of every app, again.",
        discussion: """
            --all also resumes apps that were paused for other reasons; to resume only those that `app pause --all` \
            paused, undo that change.

            Examples:
              versiongate app resume com.example.doto
              versiongate app resume --all
            """
    )

    @OptionGroup var apps: AppSelection
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(on: database) { editor in
            try apps.set(paused: false, editor)
        }
    }
}
