import ArgumentParser
import PolicyStore
import Reports
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

    @Option(help: ArgumentHelp("Only the releases of this app.", valueName: "bundle"))
    var bundle: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            try reports.warnOfUnknownApp(bundle)
            output.print(
                Report.releases(try reports.releases(bundle: bundle), at: try CommandClock(reports.session).now)
            )
        }
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
