import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate rule copy`
struct RuleCopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Add a rule like another, with its texts and its steps.",
        discussion: """
            The copy is disabled unless --enable is given, also where the rule is enabled. Clients know a message by its \
            key, so they see that of the copy as a new one.

            Examples:
              versiongate rule copy update-1.2 update-1.3
              versiongate rule copy old-ios old-ios-fleet \\
                --bundle com.example.fleet
            """
    )

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @Argument(help: "The key of the copy.")
    var new: String

    @Option(
        help: ArgumentHelp("The app of the copy; that of the rule unless given.", valueName: "bundle"),
        completion: .bundles
    )
    var bundle: String?

    @Flag(help: "Turn the copy on at once.")
    var enable = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(on: database, doubts: doubts) { editor in
            guard try editor.copyRule(key, to: new, bundle: bundle, enabled: enable) else {
                throw try CommandError.noSuchRule(key, editor.session)
            }
        }
    }

    private func doubts(_ session: PostgresSession) throws -> [String] {
        if let bundle { try CommandError.requireMeantApp(bundle, session) }
        return []
    }
}
