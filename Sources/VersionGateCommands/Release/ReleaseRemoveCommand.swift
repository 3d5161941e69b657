import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate release remove`
struct ReleaseRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove the record of a release.",
        discussion: """
            For a release that was recorded by mistake; withdraw one that the store no longer has. It shows what is \
            removed and which checks that affects, and asks on a terminal; in scripts it needs --yes.

            Example:
              versiongate release remove com.example.doto 1.2 \\
                --region JP
            """
    )

    @OptionGroup var selector: ReleaseSelector
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(on: database, asksAboutRemovals: true) { editor in
            try selector.forEach(editor) { id in try editor.delete(where: [ColumnValue<Release>.id(id)]) }
        }
    }
}
