// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser

/// `versiongate rule`: who is shown what.
struct RuleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rule",
        abstract: "Add, show, change, enable, roll out, translate and remove rules.",
        discussion: """
            A rule is a message and the conditions under which it is shown. A condition that is left out does not
            count. A new rule reaches nobody until it is enabled.
            """,
        subcommands: [
            RuleAddCommand.self, RuleListCommand.self, RuleShowCommand.self, RuleEditCommand.self,
            RuleEnableCommand.self, RuleDisableCommand.self, RuleRolloutCommand.self, RuleRampCommand.self,
            RuleTranslateCommand.self, RuleRemoveCommand.self,
        ]
    )
}
