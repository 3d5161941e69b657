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

    /// What can be cleared.
    enum Field: String, CaseIterable, ExpressibleByArgument {
        case name
        case note
        case storeLinks = "store-links"
        case storeID = "store-id"
        case seller

        /// The column without a value; nil for the links, which are rows.
        var cleared: ColumnValue? {
            switch self {
            case .name: .text("name", nil)
            case .note: .text("note", nil)
            case .storeLinks: nil
            case .storeID: .integer("store_id", nil)
            case .seller: .text("seller", nil)
            }
        }
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

    @Option(
        name: .customLong("store-id"),
        help: ArgumentHelp("The app's number in the App Store, by which look-ups ask.", valueName: "number"),
        transform: StoreIDArgument.parse
    )
    var storeID: Int64?

    @Option(help: "The name of the seller, as the store has it.")
    var seller: String?

    @Option(help: "A note for the people who edit; never sent.")
    var note: String?

    @Option(help: ArgumentHelp("Empty a field; can be repeated.", valueName: "field"))
    var clear: [Field] = []

    @OptionGroup var options: EditOptions

    func validate() throws {
        let given = values.map(\.column)
        if given.isEmpty, storeLinks.isEmpty, clear.isEmpty {
            throw ValidationError("Say what to change, for example --name, --store-link or --clear.")
        }
        if let both = clear.compactMap(\.cleared?.column).first(where: given.contains) {
            throw ValidationError("\(both) is both set and cleared; leave one of the two out.")
        }
        try AppAddCommand.requireOneLinkEach(storeLinks)
    }

    func run() async throws {
        let changes = values + Set(clear).compactMap(\.cleared)
        try await options.edit(asksAboutRemovals: clear.contains(.storeLinks)) { editor in
            let app = ColumnValue.text("bundle", bundle)
            guard try editor.update(.apps, where: [app], set: changes) > 0 else {
                throw try CommandError.noSuchApp(bundle, editor.session)
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

    /// The columns that options were given for.
    private var values: [ColumnValue] {
        var values: [ColumnValue] = []
        if let name { values.append(.text("name", name)) }
        if let note { values.append(.text("note", note)) }
        if let storeID { values.append(.integer("store_id", storeID)) }
        if let seller { values.append(.text("seller", seller)) }
        return values
    }
}
