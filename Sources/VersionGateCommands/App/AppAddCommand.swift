import ArgumentParser
import PolicyStore
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

    @OptionGroup var fields: ColumnOptions<App, Adding>

    @OptionGroup var storeLinks: StoreLinkOptions

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(on: database, values: fields.values) { editor, values in
            try editor.insert([.init(\App.bundle, bundle)] + values)
            try storeLinks.apply(to: bundle, editor)
        }
    }
}
