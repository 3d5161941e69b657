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

    @Option(help: "The app's name, which texts can use as {app}.")
    var name: String?

    @Option(
        name: .customLong("store-link"),
        help: ArgumentHelp("Where a store has the app; can be repeated.", valueName: "platform=url"),
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

    @OptionGroup var options: EditOptions

    func validate() throws {
        try Self.requireOneLinkEach(storeLinks)
    }

    /// Refuses two links for one platform.
    static func requireOneLinkEach(_ links: [NamedValue]) throws {
        let platforms = links.map { Platform($0.name).name }
        if let again = platforms.indices.first(where: { platforms[..<$0].contains(platforms[$0]) }) {
            throw ValidationError("--store-link is given twice for \(platforms[again]); leave one of the two out.")
        }
    }

    /// What finds the app in stores and elsewhere.
    private var identifiers: [ColumnValue] {
        [.integer("store_id", storeID), .text("seller", seller)]
    }

    func run() async throws {
        try await options.edit { editor in
            do {
                let columns = [ColumnValue.text("bundle", bundle), .text("name", name), .text("note", note)]
                try editor.insert(.apps, columns + identifiers)
            } catch let error as PostgresError where error.sqlState == .uniqueViolation {
                throw CommandError.appExists(bundle)
            }
            for link in storeLinks {
                try editor.insert(
                    .storeLinks,
                    [.text("bundle", bundle), .text("platform", link.name), .text("link", link.value)]
                )
            }
        }
    }
}

/// The number of an app in the App Store, as an argument.
enum StoreIDArgument {
    /// Reads digits, also behind the `id` that addresses have.
    static func parse(_ argument: String) throws -> Int64 {
        guard let number = Int64(argument.hasPrefix("id") ? argument.dropFirst(2) : argument[...]) else {
            throw CommandError(
                "write the digits behind \"id\" in the address of the app in the App Store: 1234567890"
            )
        }
        return number
    }
}
