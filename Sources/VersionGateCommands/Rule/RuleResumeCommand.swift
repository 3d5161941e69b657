import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule resume`
struct RuleResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let the steps of a rule that is held go on.",
        discussion: """
            The steps that are left move by as long as the rule was held, so none is left out.

            Example:
              versiongate rule resume update-1.2
            """
    )

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(
            on: database,
            { editor in
                try editor.edit(rule: key)
                try editor.resume(rule: key)
            },
            summary: { session in try RampSummary.text(ofRule: key, session) }
        )
    }
}
