// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate app edit`
struct AppEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change an app's name, note or store links.",
        discussion: """
            Example:
              versiongate app edit com.example.doto --store-link \\
                android=market://details?id=com.example.doto
            """
    )

    /// What can be cleared.
    enum Field: String, CaseIterable, ExpressibleByArgument {
        case name
        case note
        case storeLinks = "store-links"
    }

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @Option(help: "The app's name, which texts can use as {app}.")
    var name: String?

    @Option(
        name: .customLong("store-link"),
        help: ArgumentHelp("Where a store has the app; replaces the platform's link.", valueName: "platform=url"),
        transform: NamedValue.storeLink
    )
    var storeLinks: [NamedValue] = []

    @Option(help: "A note for the people who edit; never sent.")
    var note: String?

    @Option(help: ArgumentHelp("Empty a field; can be repeated.", valueName: "field"))
    var clear: [Field] = []

    @OptionGroup var options: EditOptions

    func validate() throws {
        if name == nil, note == nil, storeLinks.isEmpty, clear.isEmpty {
            throw ValidationError("Say what to change: --name, --note, --store-link or --clear.")
        }
        try AppAddCommand.requireOneLinkEach(storeLinks)
    }

    func run() async throws {
        var values: [ColumnValue] = []
        if let name { values.append(.text("name", name)) }
        if let note { values.append(.text("note", note)) }
        if clear.contains(.name) { values.append(.text("name", nil)) }
        if clear.contains(.note) { values.append(.text("note", nil)) }
        let changes = values
        try await options.edit(asksAboutRemovals: clear.contains(.storeLinks)) { editor in
            let app = ColumnValue.text("bundle", bundle)
            guard try editor.update(.apps, where: [app], set: changes) > 0 else {
                throw CommandError.noSuchApp(bundle, among: try PolicyReader.bundles(editor.session))
            }
            if clear.contains(.storeLinks) {
                try editor.delete(.storeLinks, where: [app])
            }
            for link in storeLinks {
                try editor.upsert(
                    .storeLinks,
                    key: [app, .text("platform", Platform(link.name).name)],
                    [.text("link", link.value)]
                )
            }
        }
    }
}
