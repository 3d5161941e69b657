import ArgumentParser
import PolicyStore
import UpdatePolicy

/// The option for the links of an app in stores, which are rows of their own.
struct StoreLinkOptions: ParsableArguments {
    @Option(
        name: .customLong("store-link"),
        help: ArgumentHelp(
            "Where a store has the app, one link a platform; can be repeated.",
            valueName: "platform=url"
        ),
        transform: NamedValue.storeLink
    )
    var links: [NamedValue] = []

    func validate() throws {
        let platforms = links.map { Platform($0.name).name }
        if let again = platforms.indices.first(where: { platforms[..<$0].contains(platforms[$0]) }) {
            throw ValidationError("--store-link is given twice for \(platforms[again]); leave one of the two out.")
        }
    }

    /// Adds the links to an app, each instead of the one that its platform has.
    func apply(to bundle: String, _ editor: PolicyEditor) throws {
        for link in links {
            try editor.upsert(
                where: [.owner(bundle), .init(\StoreLink.platform, Platform(link.name).name)],
                set: [.init(\.link, link.value)]
            )
        }
    }
}
