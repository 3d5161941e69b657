import ArgumentParser
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
                --text "{app} {target} is available."
              versiongate rule add maintenance --ends-at +2h \\
                --lockout --lockout-without-update --enable \\
                --title "Maintenance" --text "We are back at 18:00."
            """
    )

    @Argument(help: "The rule's key: lower-case letters, digits, dots, underscores and hyphens. It never changes.")
    var key: String

    @OptionGroup(title: "Conditions and message") var fields: ColumnOptions<Rule, Adding>

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(on: database, doubts: doubts, values: fields.values) { editor, values in
            try editor.insert([.init(\Rule.key, key)] + values)
        }
        if !fields.has(\.bundle), !options.dryRun {
            print("The rule is for every app; for one app: \(PrintedCommand("rule edit \(key) --bundle BUNDLE"))")
        }
        for meaning in fields.meanings { print(meaning) }
    }

    /// A bundle that is nearly another, or a message for everybody that is sent at once.
    private func doubts(_ session: PostgresSession) throws -> [String] {
        if let bundle = fields.text(\.bundle) {
            try CommandError.requireMeantApp(bundle, session)
            return []
        }
        return fields.isSet(\.enabled) ? ["this goes to the clients of every app, as --bundle is not given"] : []
    }
}
