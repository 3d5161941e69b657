// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate app add`
struct AppAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an app.",
        discussion: """
            Example:
              versiongate app add com.example.doto --name Doto \\
                --store-link ios=https://apps.apple.com/app/id123456789
            """
    )

    @Argument(help: "The bundle or package identifier, spelled as it is to be shown.")
    var bundle: String

    @OptionGroup var fields: AppFields

    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit { editor in
            do {
                try editor.insert(.apps, [.text("bundle", bundle)] + fields.values)
            } catch let error as PostgresError where error.sqlState == .uniqueViolation {
                throw CommandError.appExists(bundle)
            }
            for link in fields.storeLinks {
                try editor.insert(
                    .storeLinks,
                    [.text("bundle", bundle), .text("platform", link.name), .text("link", link.value)]
                )
            }
        }
    }
}
