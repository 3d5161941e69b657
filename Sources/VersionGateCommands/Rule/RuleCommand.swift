import ArgumentParser

/// `versiongate rule`: the messages and their conditions.
struct RuleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rule",
        abstract: "Add, show, change, enable, roll out, hold, translate and remove rules.",
        discussion: """
            A rule is a message and the conditions under which it is shown. A condition that is left out does not \
            count. A new rule reaches nobody until it is enabled.

            Example:
              versiongate rule add update-1.2 \\
                --bundle com.example.doto --target 1.2 \\
                --title "Please update" \\
                --text "{app} {target} is available."
            """,
        subcommands: [
            RuleAddCommand.self, RuleListCommand.self, RuleShowCommand.self, RuleEditCommand.self, RuleCopyCommand.self,
            RuleEnableCommand.self, RuleDisableCommand.self, RuleRolloutCommand.self, RuleRampCommand.self,
            RuleHoldCommand.self, RuleResumeCommand.self, RuleTranslateCommand.self, RuleRemoveCommand.self,
        ]
    )
}
