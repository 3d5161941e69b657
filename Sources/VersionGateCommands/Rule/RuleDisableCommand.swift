// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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

    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit { editor in
            let changes = [ColumnValue.boolean("enabled", false)]
            guard try editor.update(.rules, where: [.text("key", key)], set: changes) > 0 else {
                throw try CommandError.noSuchRule(key, editor.session)
            }
        }
    }
}
