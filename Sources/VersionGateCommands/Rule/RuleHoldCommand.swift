import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule hold`
struct RuleHoldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract: "Hold a rule's planned steps: it keeps the share that it has now.",
        discussion: """
            Who gets the message goes on getting it; nobody is added until `versiongate rule resume`.

            Example:
              versiongate rule hold update-1.2 --why "more crashes"
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
                try editor.hold(rule: key)
            },
            summary: { session in try RampSummary.text(ofRule: key, session) }
        )
    }
}
