import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate feed template remove`
struct FeedTemplateRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a document of your own.",
        discussion: """
            Its address answers with 404 from then on. It asks on a terminal; in scripts it needs --yes.

            Example:
              versiongate feed template remove com.example.doto v.json
            """
    )

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @Argument(help: "The last part of the document's address.", completion: .templates)
    var name: String

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(on: database, asksAboutRemovals: true) { editor in
            guard try editor.delete(where: [.owner(bundle), .init(\FeedTemplate.name, name)]) > 0 else {
                try editor.edit(app: bundle)
                throw CommandError(
                    "\(bundle) has no template \(name); `\(PrintedCommand("feed list \(bundle.shellWord)"))` shows those there are"
                )
            }
        }
    }
}
