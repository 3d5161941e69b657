// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyFigures
import PolicyStore

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
            if let bundle, try reports.app(bundle) == nil {
                try CommandError.noSuchApp(bundle, reports.session).printAsWarning()
            }
            switch output.format {
            case .json:
                print(try reports.releasesJSON(bundle: bundle))
            case .table:
                let releases = try reports.releases(bundle: bundle)
                guard !releases.isEmpty else {
                    print(
                        "No releases. To add one: \(PrintedCommand("release add BUNDLE VERSION --platform PLATFORM"))"
                    )
                    return
                }
                var table = TextTable(
                    "APP",
                    "PLATFORM",
                    "VERSION",
                    "BUILD",
                    "MIN OS",
                    "REGIONS",
                    "STATE",
                    "NOTES",
                    named: 3,
                    silent: ["REGIONS": "everywhere"]
                )
                for release in releases {
                    table.add(
                        release.bundle,
                        release.platform,
                        release.version,
                        release.build ?? "-",
                        release.minOS ?? "-",
                        release.regions ?? "everywhere",
                        release.state + (release.since.map { " \(TimeText.local($0))" } ?? ""),
                        release.languages.isEmpty ? "-" : release.languages.joined(separator: ", ")
                    )
                }
                print(table.text)
            }
        }
    }
}
