// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate app resume`
struct AppResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let the rules answer this app's checks again.",
        discussion: """
            Example:
              versiongate app resume com.example.doto
            """
    )

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit { editor in
            let changes = [ColumnValue.boolean("paused", false)]
            guard try editor.update(.apps, where: [.text("bundle", bundle)], set: changes) > 0 else {
                throw CommandError.noSuchApp(bundle)
            }
        }
    }
}
