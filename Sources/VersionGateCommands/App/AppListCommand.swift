// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyFigures
import PolicyStore

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
            switch output.format {
            case .json:
                print(try reports.appsJSON())
            case .table:
                let apps = try reports.apps()
                guard !apps.isEmpty else {
                    print(
                        "No apps. To add one: \(PrintedCommand("app add BUNDLE --name NAME --store-link ios=https://..."))"
                    )
                    return
                }
                var table = TextTable("BUNDLE", "NAME", "STATE", "RULES", "STORE LINKS")
                for app in apps {
                    table.add(
                        app.bundle,
                        app.name ?? "-",
                        app.paused ? "paused" : "active",
                        "\(app.ruleCount)",
                        app.linkedPlatforms.isEmpty ? "-" : app.linkedPlatforms.joined(separator: ", ")
                    )
                }
                print(table.text)
            }
        }
    }
}
