import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate release list`
struct ReleaseListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the releases by app and platform, the greatest version first.",
        discussion: """
            Example:
              versiongate release list --bundle com.example.doto
            """
    )

    @Option(help: ArgumentHelp("Only the releases of this app.", valueName: "bundle"), completion: .bundles)
    var bundle: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            try reports.warnOfUnknownApp(bundle)
            try output.print(
                try reports.releases(bundle: bundle), json: try reports.releasesJSON(bundle: bundle),
                ifEmpty: "No releases. To add one: \(PrintedCommand("release add BUNDLE VERSION --platform PLATFORM"))"
            )
        }
    }
}

extension PolicyReports.ReleaseSummary: ListRow {
    static let header = ["APP", "PLATFORM", "VERSION", "BUILD", "MIN OS", "REGIONS", "STATE", "NOTES"]
    static let named = 3
    static let silent = ["REGIONS": "everywhere"]

    var cells: [String] {
        [
            bundle, platform, version, build ?? "-", minOS ?? "-", regions ?? "everywhere",
            state + (since.map { " \(TimeText.local($0))" } ?? ""),
            languages.isEmpty ? "-" : languages.joined(separator: ", "),
        ]
    }
}

extension PolicyReports {
    /// Warns where a list is asked for of an app that there is not.
    func warnOfUnknownApp(_ bundle: String?) throws {
        guard let bundle else { return }
        let bundles = try PolicyReader.bundles(session)
        if !bundles.contains(where: { ASCII.lowercased($0) == ASCII.lowercased(bundle) }) {
            try CommandError.noSuchApp(bundle, session).printAsWarning()
        }
    }
}
