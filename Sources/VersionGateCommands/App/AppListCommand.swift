import ArgumentParser
import PolicyStore
import UpdatePolicy

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
            try output.print(
                try reports.apps(),
                json: try reports.appsJSON(),
                ifEmpty: "No apps. To add one: "
                    + "\(PrintedCommand("app add BUNDLE --name NAME --store-link ios=https://..."))"
            )
        }
    }
}

extension PolicyReports.AppSummary: ListRow {
    static let header = ["BUNDLE", "NAME", "STATE", "RULES", "STORE LINKS"]

    var cells: [String] {
        [
            bundle, name ?? "-", paused ? "paused" : "active", "\(ruleCount)",
            linkedPlatforms.isEmpty ? "-" : linkedPlatforms.joined(separator: ", "),
        ]
    }
}
