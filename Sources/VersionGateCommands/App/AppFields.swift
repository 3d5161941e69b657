// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// The options for the columns and store links of an app, as `app add` and `app edit` take them.
struct AppFields: ParsableArguments {
    @Option(help: "The app's name, which texts can use as {app}.")
    var name: String?

    @Option(
        name: .customLong("store-link"),
        help: ArgumentHelp(
            "Where a store has the app, one link a platform; can be repeated.",
            valueName: "platform=url"
        ),
        transform: NamedValue.storeLink
    )
    var storeLinks: [NamedValue] = []

    @Option(
        name: .customLong("store-id"),
        help: ArgumentHelp("The app's number in the App Store, by which look-ups ask.", valueName: "number"),
        transform: Self.storeID
    )
    var storeID: Int64?

    @Option(help: "The name of the seller, as the store has it.")
    var seller: String?

    @Option(help: "A note for the people who edit; never sent.")
    var note: String?

    func validate() throws {
        let platforms = storeLinks.map { Platform($0.name).name }
        if let again = platforms.indices.first(where: { platforms[..<$0].contains(platforms[$0]) }) {
            throw ValidationError("--store-link is given twice for \(platforms[again]); leave one of the two out.")
        }
    }

    /// The columns of the options that were given.
    var values: [ColumnValue] {
        var values: [ColumnValue] = []
        if let name { values.append(.text("name", name)) }
        if let storeID { values.append(.integer("store_id", storeID)) }
        if let seller { values.append(.text("seller", seller)) }
        if let note { values.append(.text("note", note)) }
        return values
    }

    /// Reads the digits of a number in the App Store, also behind the `id` that addresses have.
    private static func storeID(_ argument: String) throws -> Int64 {
        guard let number = Int64(argument.hasPrefix("id") ? argument.dropFirst(2) : argument[...]) else {
            throw CommandError(
                "write the digits behind \"id\" in the address of the app in the App Store: 1234567890"
            )
        }
        return number
    }
}
