import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule edit`
struct RuleEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the conditions or the message of a rule.",
        discussion: """
            An option replaces the whole value: --platform ios --platform android leaves these two. --clear takes a \
            condition away.

            Example:
              versiongate rule edit update-1.2 --versions '<1.1.5' \\
                --clear region
            """
    )

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @OptionGroup(title: "Conditions and message") var edits: ColumnOptions<Rule, Editing>

    // What other commands change; caught here because the parser would propose --lockout for --rollout.
    @Option(help: .hidden) var rollout: String?
    @Option(name: .customLong("key"), help: .hidden) var newKey: String?
    @Flag(name: [.customLong("enable"), .customLong("enabled")], help: .hidden) var enable = false
    @Flag(name: [.customLong("disable"), .customLong("disabled")], help: .hidden) var disable = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func validate() throws {
        let key = key.shellWord
        if let rollout {
            throw ValidationError(
                "The rollout has a command of its own: \(PrintedCommand("rule rollout \(key) \(rollout.shellWord)"))"
            )
        }
        if let newKey {
            throw ValidationError(
                "A key never changes, as clients remember it. For the same rule by another key: "
                    + "\(PrintedCommand("rule copy \(key) \(newKey.shellWord)"))"
            )
        }
        if enable { throw ValidationError("To turn the rule on: \(PrintedCommand("rule enable \(key)"))") }
        if disable { throw ValidationError("To turn the rule off: \(PrintedCommand("rule disable \(key)"))") }
        try edits.requireChange(examples: "--title or --versions")
    }

    func run() async throws {
        try await options.edit(on: database, values: edits.values) { editor, changes in
            try editor.edit(rule: key, set: changes)
        }
        for meaning in edits.meanings { print(meaning) }
    }
}
