import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule rollout`
struct RuleRolloutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollout",
        abstract: "Set the share of installs that a rule reaches, from now on.",
        discussion: """
            Raising the share only adds installs; none is dropped. Planned steps of the rule are removed, and a hold ends.

            Example:
              versiongate rule rollout update-1.2 25%
            """
    )

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @Argument(help: "0 to 100, with up to two decimals; a percent sign may follow.", transform: PercentArgument.parse)
    var percent: PercentArgument

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(on: database) { editor in
            try editor.lock(where: [.init(\Rule.key, key)])
            try editor.delete(where: [ColumnValue<RolloutStep>.owner(key)])
            try editor.edit(rule: key, set: [.init(\.rollout, written: percent.number), .init(\.heldAt, nil)])
        }
    }
}
