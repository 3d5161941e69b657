// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore

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

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            guard let app = try reports.app(bundle) else {
                throw try CommandError.noSuchApp(bundle, reports.session)
            }
            switch output.format {
            case .json: print(app.json)
            case .table: print(RecordText(app.fields).text)
            }
        }
    }
}
