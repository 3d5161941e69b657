import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate rule`: the messages and their conditions.
struct RuleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "rule", "Add, show, change, enable, roll out, hold, translate and remove rules.",
        discussion: """
            A rule is a message and the conditions under which it is shown. A condition that is left out does not \
            count. A new rule reaches nobody until it is enabled.
            """,
        examples: [
            #"versiongate rule add update-1.2 --bundle com.example.doto --target 1.2 --title "Please update" --text "{app} {target} is available.""#
        ],
        subcommands: [
            EditCommand<RuleAdd>.self, RuleListCommand.self, RuleShowCommand.self, EditCommand<RuleEdit>.self,
            EditCommand<RuleCopy>.self, EditCommand<RuleEnable>.self, EditCommand<RuleDisable>.self,
            EditCommand<RuleRollout>.self, EditCommand<RuleRamp>.self, EditCommand<RuleHold>.self,
            EditCommand<RuleResume>.self, EditCommand<RuleTranslate>.self, EditCommand<RuleRemove>.self,
        ]
    )
}

/// The argument that names a rule.
struct RuleKey: ParsableArguments {
    @Argument(help: "The key of the rule.") var key: String
}

struct RuleAdd: EditVerb {
    static let configuration = CommandConfiguration(
        "add", "Add a rule; it reaches nobody until it is enabled.",
        examples: [
            #"versiongate rule add update-1.2 --bundle com.example.doto --target 1.2 --link store --title "Please update" --text "{app} {target} is available.""#,
            #"versiongate rule add maintenance --ends-at +2h --lockout --lockout-without-update --enable --title "Maintenance" --text "We are back at 18:00.""#,
        ]
    )

    @Argument(help: "The rule's key: lower-case letters, digits, dots, underscores and hyphens. It never changes.")
    var key: String

    @Option(help: "The message's title, up to 200 characters.") var title: String
    @Option(help: "The message's text, up to 4,000 characters. {app}, {target} and {date} are filled in.")
    var text: String
    @OptionGroup(title: "Conditions and message") var columns: RuleOptions
    @Option(percent: "The share of installs that the rule reaches, with up to two decimals.")
    var rollout: PercentArgument?
    @Flag(help: "Turn the rule on at once.") var enable = false

    private var edit: ColumnEdit<Rule> {
        ColumnEdit(
            [
                GivenColumn(\.title, title), GivenColumn(\.text, text), GivenColumn(\.rollout, rollout?.number),
                GivenColumn(\.enabled, enable ? true : nil),
            ] + columns.given
        )
    }

    func values(_ clock: CommandClock) throws -> [ColumnValue<Rule>] { try edit.values(clock) }

    func edit(_ editor: PolicyEditor, _ values: [ColumnValue<Rule>]) throws {
        try editor.insert([.init(\Rule.key, key)] + values)
    }

    func confirmations(_ session: PostgresSession) throws -> [String] {
        if let bundle = columns.bundle {
            try CommandError.requireMeantApp(bundle, session)
            return []
        }
        return enable ? ["this goes to the clients of every app, as --bundle is not given"] : []
    }

    func warnings(_ session: PostgresSession) throws -> [String] {
        MessageText.warnings(title: title, text: text) + columns.warnings
    }

    func notes(isDryRun: Bool) -> [String] {
        let isForAll = columns.bundle == nil && !isDryRun
        return
            (isForAll
            ? ["The rule is for every app; for one app: \(PrintedCommand("rule edit \(key) --bundle BUNDLE"))"] : [])
            + edit.meanings
    }
}

struct RuleEdit: EditVerb {
    static let configuration = CommandConfiguration(
        "edit", "Change the conditions or the message of a rule.",
        discussion: """
            An option replaces the whole value: --platform ios --platform android leaves these two. --clear takes a \
            condition away.
            """,
        examples: ["versiongate rule edit update-1.2 --versions '<1.1.5' --clear region"]
    )

    @OptionGroup var rule: RuleKey
    @Option(help: "The message's title, up to 200 characters.") var title: String?
    @Option(help: "The message's text, up to 4,000 characters. {app}, {target} and {date} are filled in.")
    var text: String?
    @OptionGroup(title: "Conditions and message") var columns: RuleOptions
    @Option(clear: Rule.self) var cleared: [ClearedField<Rule>]

    // What other commands change; caught here because the parser would propose --lockout for --rollout.
    @Option(help: .hidden) var rollout: String?
    @Option(name: .customLong("key"), help: .hidden) var newKey: String?
    @Flag(name: [.customLong("enable"), .customLong("enabled")], help: .hidden) var enable = false
    @Flag(name: [.customLong("disable"), .customLong("disabled")], help: .hidden) var disable = false

    private var edit: ColumnEdit<Rule> {
        ColumnEdit([GivenColumn(\.title, title), GivenColumn(\.text, text)] + columns.given, clearing: cleared)
    }

    func validate() throws {
        let key = rule.key.shellWord
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
        try edit.requireChange(examples: "--title or --versions")
    }

    func values(_ clock: CommandClock) throws -> [ColumnValue<Rule>] { try edit.values(clock) }

    func edit(_ editor: PolicyEditor, _ values: [ColumnValue<Rule>]) throws {
        try editor.edit(rule: rule.key, set: values)
    }

    func warnings(_ session: PostgresSession) throws -> [String] {
        MessageText.warnings(title: title, text: text) + columns.warnings
    }

    func notes(isDryRun: Bool) -> [String] { edit.meanings }
}

struct RuleCopy: EditVerb {
    static let configuration = CommandConfiguration(
        "copy", "Add a rule like another, with its texts and its steps.",
        discussion: """
            The copy is disabled unless --enable is given, also where the rule is enabled. Clients know a message by its \
            key, so they see that of the copy as a new one.
            """,
        examples: [
            "versiongate rule copy update-1.2 update-1.3",
            "versiongate rule copy old-ios old-ios-fleet --bundle com.example.fleet",
        ]
    )

    @OptionGroup var rule: RuleKey
    @Argument(help: "The key of the copy.") var new: String
    @Option(help: "The app of the copy; that of the rule unless given.") var bundle: String?
    @Flag(help: "Turn the copy on at once.") var enable = false

    func confirmations(_ session: PostgresSession) throws -> [String] {
        if let bundle { try CommandError.requireMeantApp(bundle, session) }
        return []
    }

    func edit(_ editor: PolicyEditor, _: Void) throws {
        guard try editor.copyRule(rule.key, to: new, bundle: bundle, enabled: enable) else {
            throw try CommandError.noSuchRule(rule.key, editor.session)
        }
    }
}

struct RuleEnable: EditVerb {
    static let configuration = CommandConfiguration(
        "enable", "Turn a rule on.",
        examples: ["versiongate rule enable update-1.2"]
    )

    @OptionGroup var rule: RuleKey

    func edit(_ editor: PolicyEditor, _: Void) throws { try editor.edit(rule: rule.key, set: [.init(\.enabled, true)]) }
}

struct RuleDisable: EditVerb {
    static let configuration = CommandConfiguration(
        "disable", "Turn a rule off; it reaches nobody until it is enabled again.",
        examples: [#"versiongate rule disable update-1.2 --why "wrong text""#]
    )

    @OptionGroup var rule: RuleKey

    func edit(_ editor: PolicyEditor, _: Void) throws {
        try editor.edit(rule: rule.key, set: [.init(\.enabled, false)])
    }
}

struct RuleRollout: EditVerb {
    static let configuration = CommandConfiguration(
        "rollout", "Set the share of installs that a rule reaches, from now on.",
        discussion:
            "Raising the share only adds installs; none is dropped. Planned steps of the rule are removed, and a hold ends.",
        examples: ["versiongate rule rollout update-1.2 25%"]
    )

    @OptionGroup var rule: RuleKey

    @Argument(help: "0 to 100, with up to two decimals; a percent sign may follow.", transform: PercentArgument.parse)
    var percent: PercentArgument

    func edit(_ editor: PolicyEditor, _: Void) throws {
        try editor.lock(where: [.init(\Rule.key, rule.key)])
        try editor.delete(where: [ColumnValue<RolloutStep>.owner(rule.key)])
        try editor.edit(rule: rule.key, set: [.init(\.rollout, written: percent.number), .init(\.heldAt, nil)])
    }
}

struct RuleHold: EditVerb {
    static let configuration = CommandConfiguration(
        "hold", "Hold a rule's planned steps: it keeps the share that it has now.",
        discussion: "Whoever gets the message goes on getting it; nobody is added until `versiongate rule resume`.",
        examples: [#"versiongate rule hold update-1.2 --why "more crashes""#]
    )

    @OptionGroup var rule: RuleKey

    func edit(_ editor: PolicyEditor, _: Void) throws {
        try editor.edit(rule: rule.key)
        try editor.hold(rule: rule.key)
    }

    func summary(_ session: PostgresSession) throws -> String? { try RuleRamp.summary(ofRule: rule.key, session) }
}

struct RuleResume: EditVerb {
    static let configuration = CommandConfiguration(
        "resume", "Let the steps of a rule that is held go on.",
        discussion: "The steps that are left move by as long as the rule was held, so none is left out.",
        examples: ["versiongate rule resume update-1.2"]
    )

    @OptionGroup var rule: RuleKey

    func edit(_ editor: PolicyEditor, _: Void) throws {
        try editor.edit(rule: rule.key)
        try editor.resume(rule: rule.key)
    }

    func summary(_ session: PostgresSession) throws -> String? { try RuleRamp.summary(ofRule: rule.key, session) }
}

struct RuleRemove: EditVerb {
    static let configuration = CommandConfiguration(
        "remove", "Remove a rule with its texts and steps.",
        discussion: """
            To stop a rule for a while, disable it instead. It shows what is removed and which checks that affects, \
            and asks on a terminal; in scripts it needs --yes.
            """,
        examples: ["versiongate rule remove update-1.2"]
    )

    @OptionGroup var rule: RuleKey

    var asksAboutRemovals: Bool { true }

    func edit(_ editor: PolicyEditor, _: Void) throws {
        guard try editor.delete(where: [.init(\Rule.key, rule.key)]) > 0 else {
            throw try CommandError.noSuchRule(rule.key, editor.session)
        }
    }
}
