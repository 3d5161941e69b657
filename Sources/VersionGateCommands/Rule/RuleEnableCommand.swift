import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule enable`
struct RuleEnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Turn a rule on.",
        discussion: """
            Example:
              versiongate rule enable update-1.2
            """
    )

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(on: database) { editor in try editor.edit(rule: key, set: [.init(\.enabled, true)]) }
    }
}
