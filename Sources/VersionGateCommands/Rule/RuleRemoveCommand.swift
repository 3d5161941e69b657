import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule remove`
struct RuleRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a rule with its texts and steps.",
        discussion: """
            To stop a rule for a while, disable it instead. It shows what is removed and which checks that affects, \
            and asks on a terminal; in scripts it needs --yes.

            Example:
              versiongate rule remove update-1.2
            """
    )

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(on: database, asksAboutRemovals: true) { editor in
            guard try editor.delete(where: [.init(\Rule.key, key)]) > 0 else {
                throw try CommandError.noSuchRule(key, editor.session)
            }
        }
    }
}
