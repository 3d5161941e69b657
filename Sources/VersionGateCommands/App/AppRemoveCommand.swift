import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate app remove`
struct AppRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove an app with its store links, releases and rules.",
        discussion: """
            To silence an app for a while, pause it instead. It shows what is removed and which checks that affects, \
            and asks on a terminal; in scripts it needs --yes.

            Example:
              versiongate app remove com.example.doto
            """
    )

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(on: database, asksAboutRemovals: true) { editor in
            guard try editor.delete(where: [.init(\App.bundle, bundle)]) > 0 else {
                throw try CommandError.noSuchApp(bundle, editor.session)
            }
        }
    }
}
