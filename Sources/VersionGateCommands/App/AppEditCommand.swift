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

    @OptionGroup var edits: ColumnOptions<App, Editing>

    @OptionGroup var storeLinks: StoreLinkOptions

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func validate() throws {
        try edits.requireChange(changesRows: !storeLinks.links.isEmpty, examples: "--name, --store-link or --clear")
    }

    func run() async throws {
        let clearsStoreLinks = edits.cleared.contains(ClearedField(rowsOf: .storeLinks))
        try await options.edit(on: database, asksAboutRemovals: clearsStoreLinks, values: edits.values) {
            editor,
            changes in
            try editor.edit(app: bundle, set: changes)
            if clearsStoreLinks { try editor.delete(where: [ColumnValue<StoreLink>.owner(bundle)]) }
            try storeLinks.apply(to: bundle, editor)
        }
    }
}
