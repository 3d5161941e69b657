import ArgumentParser
import PolicyStore
import Reports

/// `versiongate app show`
struct AppShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an app with its store links, releases and rules.",
        discussion: """
            Example:
              versiongate app show com.example.doto
            """
    )

    @Argument(help: "The bundle of the app.")
    var bundle: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            guard let app = try reports.apps(bundle: bundle).first else {
                throw try CommandError.noSuchApp(bundle, reports.session)
            }
            output.print(Report.app(app, at: try CommandClock(reports.session).now))
        }
    }
}
