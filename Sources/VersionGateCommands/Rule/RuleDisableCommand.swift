import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule disable`
struct RuleDisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Turn a rule off; it reaches nobody until it is enabled again.",
        discussion: """
            Example:
              versiongate rule disable update-1.2 --why "wrong text"
            """
    )

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(on: database) { editor in try editor.edit(rule: key, set: [.init(\.enabled, false)]) }
    }
}
