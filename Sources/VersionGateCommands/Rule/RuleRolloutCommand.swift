// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule rollout`
struct RuleRolloutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollout",
        abstract: "Set the share of installs that a rule reaches, from now on.",
        discussion: """
            Raising the share only adds installs; none is dropped. Planned steps of the rule are removed.

            Example:
              versiongate rule rollout update-1.2 25%
            """
    )

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @Argument(
        help: "0 to 100, with up to two decimals; a percent sign may follow.",
        transform: PercentArgument.parse
    )
    var percent: PercentArgument

    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit { editor in
            try editor.delete(.rolloutSteps, where: [.text("rule", key)])
            let changes = [ColumnValue.numeric("rollout", percent.number)]
            guard try editor.update(.rules, where: [.text("key", key)], set: changes) > 0 else {
                throw try CommandError.noSuchRule(key, editor.session)
            }
        }
    }
}
