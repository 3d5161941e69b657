// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyFigures
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate rule add`
struct RuleAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a rule; it reaches nobody until it is enabled.",
        discussion: """
            Examples:
              versiongate rule add update-1.2 \\
                --bundle com.example.doto --target 1.2 --link store \\
                --title "Please update" \\
                --text "{app} {target} is there."
              versiongate rule add maintenance --ends-at +2h \\
                --lockout --lockout-without-update --enable \\
                --title "Maintenance" --text "We are back at 18:00."
            """
    )

    @Argument(help: "The rule's key: lower-case letters, digits, dots, underscores and hyphens. It never changes.")
    var key: String

    @Option(help: "The message's title, up to 200 characters.")
    var title: String

    @Option(help: "The message's text, up to 4,000 characters. {app} and {target} are filled in.")
    var text: String

    @OptionGroup(title: "Conditions and message") var fields: RuleFields

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The share of installs that the rule reaches, with up to two decimals.",
            valueName: "percent"
        ),
        transform: PercentArgument.parse
    )
    var rollout: PercentArgument?

    @Flag(help: "Let people choose never to see the message again.")
    var skippable = false

    @Flag(help: "Lock the app until it is updated. Sent only to clients that have a way out.")
    var lockout = false

    @Flag(help: "Lock out clients without a way out as well (maintenance, end of a platform).")
    var lockoutWithoutUpdate = false

    @Flag(help: "When this message is sent, send none after it.")
    var final = false

    @Flag(help: "Turn the rule on at once.")
    var enable = false

    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(doubts: doubts, values: row) { editor, row in
            do {
                try editor.insert(.rules, row)
            } catch let error as PostgresError where error.sqlState == .uniqueViolation {
                throw CommandError.ruleExists(key)
            }
        }
        if fields.bundle == nil {
            print("The rule is for every app; for one app: \(PrintedCommand("rule edit \(key) --bundle BUNDLE"))")
        }
        try RangeInWords.printMeaning(versions: fields.versions, builds: fields.builds, os: fields.operatingSystems)
    }

    /// A bundle that is nearly another, or a message for everybody that is sent at once.
    private func doubts(_ session: PostgresSession) throws -> [String] {
        if let bundle = fields.bundle {
            try CommandError.requireMeantApp(bundle, session)
            return []
        }
        return enable ? ["this goes to the clients of every app, as --bundle is not given"] : []
    }

    private func row(_ clock: CommandClock) throws -> [ColumnValue] {
        var values: [ColumnValue] = [.text("key", key), .text("title", title), .text("text", text)]
        values += try fields.values { time, option in try clock.moment(time, of: option) }
        if let rollout { values.append(.numeric("rollout", rollout.number)) }
        if skippable { values.append(.boolean("skippable", true)) }
        if lockout { values.append(.boolean("lockout", true)) }
        if lockoutWithoutUpdate { values.append(.boolean("lockout_without_update", true)) }
        if final { values.append(.boolean("final", true)) }
        if enable { values.append(.boolean("enabled", true)) }
        return values
    }
}
