// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate app pause`
struct AppPauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Answer this app's checks with no messages, whatever the rules say.",
        discussion: """
            Example:
              versiongate app pause com.example.doto \\
                --why "the store is down"
            """
    )

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit { editor in
            let changes = [ColumnValue.boolean("paused", true)]
            guard try editor.update(.apps, where: [.text("bundle", bundle)], set: changes) > 0 else {
                throw CommandError.noSuchApp(bundle)
            }
        }
    }
}
