// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate app edit`
struct AppEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change an app's name, note, store links and what finds it in stores.",
        discussion: """
            Example:
              versiongate app edit com.example.doto --store-link \\
                android=market://details?id=com.example.doto
            """
    )

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @OptionGroup var fields: AppFields

    @Option(help: ArgumentHelp("Empty a field; can be repeated.", valueName: "field"))
    var clear: [ClearedField<App>] = []

    @OptionGroup var options: EditOptions

    func validate() throws {
        try ClearedField.requireChange(
            fields.values.map(\.column),
            changesRows: !fields.storeLinks.isEmpty,
            clear: clear,
            examples: "--name, --store-link or --clear"
        )
    }

    func run() async throws {
        let changes = fields.values + Set(clear).compactMap(\.value)
        try await options.edit(asksAboutRemovals: clear.contains(.storeLinks)) { editor in
            let app = ColumnValue.text("bundle", bundle)
            guard try editor.update(.apps, where: [app], set: changes) > 0 else {
                throw try CommandError.noSuchApp(bundle, editor.session)
            }
            if clear.contains(.storeLinks) {
                try editor.delete(.storeLinks, where: [app])
            }
            for link in fields.storeLinks {
                try editor.upsert(
                    .storeLinks,
                    key: [app, .text("platform", Platform(link.name).name)],
                    [.text("link", link.value)]
                )
            }
        }
    }
}
