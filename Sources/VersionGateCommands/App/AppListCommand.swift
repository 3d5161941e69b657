import ArgumentParser
import PolicyStore
import Reports

/// `versiongate app list`
struct AppListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the apps.",
        discussion: """
            Examples:
              versiongate app list
              versiongate app list --format json
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            output.print(Report.apps(try reports.apps(), at: try CommandClock(reports.session).now))
        }
    }
}
