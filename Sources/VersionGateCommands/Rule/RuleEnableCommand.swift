// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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

    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit { editor in
            let changes = [ColumnValue.boolean("enabled", true)]
            guard try editor.update(.rules, where: [.text("key", key)], set: changes) > 0 else {
                throw try CommandError.noSuchRule(key, editor.session)
            }
        }
    }
}
