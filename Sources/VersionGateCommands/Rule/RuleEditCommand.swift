// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyFigures
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

    @Option(help: "The message's title.")
    var title: String?

    @Option(help: "The message's text.")
    var text: String?

    @OptionGroup(title: "Conditions and message") var fields: RuleFields

    @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Let people choose never to see the message again.")
    var skippable: Bool?

    @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Lock the app until it is updated.")
    var lockout: Bool?

    @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Lock out clients without a way out as well.")
    var lockoutWithoutUpdate: Bool?

    @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "When this message is sent, send none after it.")
    var final: Bool?

    @Option(help: ArgumentHelp("Take a condition away; can be repeated.", valueName: "field"))
    var clear: [ClearedField<Rule>] = []

    // What other commands change; caught here because the parser would propose --lockout for --rollout.
    @Option(help: .hidden) var rollout: String?
    @Option(name: .customLong("key"), help: .hidden) var newKey: String?
    @Flag(name: [.customLong("enable"), .customLong("enabled")], help: .hidden) var enable = false
    @Flag(name: [.customLong("disable"), .customLong("disabled")], help: .hidden) var disable = false

    @OptionGroup var options: EditOptions

    func validate() throws {
        if let rollout {
            throw ValidationError(
                "The rollout has a command of its own: \(PrintedCommand("rule rollout \(key) \(rollout)"))"
            )
        }
        if let newKey {
            throw ValidationError(
                "A key never changes, as clients remember it. For the same rule by another key: "
                    + "\(PrintedCommand("rule copy \(key) \(newKey)"))"
            )
        }
        if enable { throw ValidationError("To turn the rule on: \(PrintedCommand("rule enable \(key)"))") }
        if disable { throw ValidationError("To turn the rule off: \(PrintedCommand("rule disable \(key)"))") }
        try ClearedField.requireChange(
            fields.columns + flags.map(\.column),
            clear: clear,
            examples: "--title or --versions"
        )
    }

    func run() async throws {
        let others = flags + Set(clear).compactMap(\.value)
        let values: @Sendable (CommandClock) throws -> [ColumnValue] = { clock in
            try fields.values { time, option in try clock.moment(time, of: option) } + others
        }
        try await options.edit(values: values) { editor, changes in
            guard try editor.update(.rules, where: [.text("key", key)], set: changes) > 0 else {
                throw try CommandError.noSuchRule(key, editor.session)
            }
        }
        try RangeInWords.printMeaning(versions: fields.versions, builds: fields.builds, os: fields.operatingSystems)
    }

    /// The values of the options that need no clock, beside the fields.
    private var flags: [ColumnValue] {
        var values: [ColumnValue] = []
        if let title { values.append(.text("title", title)) }
        if let text { values.append(.text("text", text)) }
        if let skippable { values.append(.boolean("skippable", skippable)) }
        if let lockout { values.append(.boolean("lockout", lockout)) }
        if let lockoutWithoutUpdate { values.append(.boolean("lockout_without_update", lockoutWithoutUpdate)) }
        if let final { values.append(.boolean("final", final)) }
        return values
    }
}
