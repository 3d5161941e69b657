import ArgumentParser
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

struct RuleCommand: AsyncParsableCommand {
    static let configuration = command(
        "rule", "Add, show, change, enable, roll out, hold, translate and remove rules.",
        #"versiongate rule add update-1.2 --bundle com.example.doto --target 1.2 --title "Please update" --text "{app} {target} is available.""#,
        discussion: """
            A rule is a message and the conditions under which it is shown. A condition that is left out is not \
            tested. A new rule reaches nobody until it is enabled.
            """,
        subcommands: [
            EditCommand<RuleAdd>.self, ReadCommand<RuleList>.self, ReadCommand<RuleShow>.self,
            EditCommand<RuleEdit>.self,
            EditCommand<RuleCopy>.self, EditCommand<RuleEnable>.self, EditCommand<RuleDisable>.self,
            EditCommand<RuleRollout>.self, EditCommand<RuleRamp>.self, EditCommand<RuleHold>.self,
            EditCommand<RuleResume>.self, EditCommand<RuleTranslate>.self, EditCommand<RuleRemove>.self,
        ]
    )
}

struct RuleAdd: EditVerb {
    static let configuration = command(
        "add", "Add a rule; it reaches nobody until it is enabled.",
        #"versiongate rule add update-1.2 --bundle com.example.doto --target 1.2 --link store --title "Please update" --text "{app} {target} is available.""#,
        #"versiongate rule add maintenance --ends-at +2h --lockout --lockout-without-update --enable --title "Maintenance" --text "We are back at 18:00.""#
    )

    @Argument(help: "The rule's key: lower-case letters, digits, dots, underscores and hyphens. It never changes.")
    var key: String
    @Option(help: "The message's title, up to 200 characters.") var title: String
    @Option(help: "The message's text, up to 4,000 characters. {app}, {target} and {date} are filled in.")
    var text: String
    @OptionGroup(title: "Conditions and message") var columns: RuleOptions
    @Option(percent: "The share of installs that the rule reaches, with up to two decimals.")
    var rollout: String?
    @Flag(help: "Turn the rule on at once.") var enable = false

    private var edit: ColumnEdit<Rule> {
        ColumnEdit(self, columns, also: enable ? [GivenColumn(Rule.column(\.enabled).definition, true)] : [])
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
        let cure = "The rule is for every app; for one app: \(PrintedCommand("rule edit \(key) --bundle BUNDLE"))"
        return (columns.bundle == nil && !isDryRun ? [cure] : []) + edit.meanings
    }
}

struct RuleList: ReadVerb {
    static let configuration = command(
        "list", "List the rules: those that send messages first, those that are disabled or over last.",
        "versiongate rule list --bundle com.example.doto", #"versiongate rule list --search "please update""#,
        discussion: """
            STATUS is the same as in the view rule_status; `versiongate rule show` says why. Rules of one kind are in \
            the order of their messages, which is that of --format json as well.
            """
    )

    @Option("bundle", "Only the rules of this app, and those for every app.") var bundle: String?
    @Option("text", "Only rules with this in their key, title, text, note or translations; case is ignored.")
    var search: String?

    func report(_ reports: PolicyReports, as format: OutputFormat) throws -> Report {
        try reports.warnOfUnknownApp(bundle)
        let now = try reports.now
        var rules = try reports.rules(bundle: bundle, search: search)
        if rules.contains(where: { $0.status.locksOut($0.rule) }) {
            try reports.brake.map { warn($0) }
        }
        if format == .table {
            // What sends messages comes before what may do so by itself, and that before what does not.
            let ranks = Dictionary(grouping: rules) { _, status in
                status.name.isSent ? 0 : status.name == .disabled || status.name == .ended ? 2 : 1
            }
            rules = (0...2).flatMap { ranks[$0] ?? [] }
        }
        return .rules(rules, at: now, ifEmpty: nothingFound)
    }

    private var nothingFound: Sentence {
        let app = bundle.map { " of \($0)" } ?? ""
        if let search { return "No rule\(app) has \"\(search)\" in it." }
        return "No rules\(app). To add one: \(command: "rule add --help")"
    }
}

struct RuleShow: ReadVerb {
    static let configuration = command(
        "show", "Show a rule with its texts, its planned steps and what its ranges mean.",
        "versiongate rule show update-1.2"
    )

    @Argument(help: "The key of the rule.") var key: String

    func report(_ reports: PolicyReports, as _: OutputFormat) throws -> Report {
        guard let (rule, status) = try reports.rule(key) else {
            throw try CommandError.noSuchRule(key, reports.session)
        }
        return .rule(
            rule, status,
            fuse: rule.fuse == nil ? nil : try FuseStatus.all(reports.session)?.first { $0.rule == key },
            brake: status.locksOut(rule) ? try reports.brake : nil, at: try reports.now
        )
    }
}

struct RuleEdit: EditVerb {
    static let configuration = command(
        "edit", "Change the conditions or the message of a rule.",
        "versiongate rule edit update-1.2 --versions '<1.1.5' --clear region",
        discussion: """
            An option replaces the whole value: after --platform ios --platform android there are these two. --clear \
            removes a condition.
            """
    )

    @Argument(help: "The key of the rule.") var key: String
    @Option(help: "The message's title, up to 200 characters.") var title: String?
    @Option(help: "The message's text, up to 4,000 characters. {app}, {target} and {date} are filled in.")
    var text: String?
    @OptionGroup(title: "Conditions and message") var columns: RuleOptions
    @Option(clear: Rule.self) var cleared: [ClearedField<Rule>]

    private var edit: ColumnEdit<Rule> { ColumnEdit(self, columns, clearing: cleared) }

    func validate() throws { try edit.requireChange(examples: "--title or --versions") }

    func values(_ clock: CommandClock) throws -> [ColumnValue<Rule>] { try edit.values(clock) }

    func edit(_ editor: PolicyEditor, _ values: [ColumnValue<Rule>]) throws {
        try editor.edit(rule: key, set: values)
    }

    func warnings(_ session: PostgresSession) throws -> [String] {
        MessageText.warnings(title: title, text: text) + columns.warnings
    }

    func notes(isDryRun: Bool) -> [String] { edit.meanings }
}

struct RuleCopy: EditVerb {
    static let configuration = command(
        "copy", "Add a rule like another, with its texts and its steps.",
        "versiongate rule copy update-1.2 update-1.3",
        "versiongate rule copy old-ios old-ios-fleet --bundle com.example.fleet",
        discussion: """
            The copy is disabled unless --enable is given, even if the rule is enabled. Clients know a message by \
            its key, so the copy's is a new one to them.
            """
    )

    @Argument(help: "The key of the rule.") var key: String
    @Argument(help: "The key of the copy.") var new: String
    @Option(help: "The app of the copy; that of the rule unless given.") var bundle: String?
    @Flag(help: "Turn the copy on at once.") var enable = false

    func confirmations(_ session: PostgresSession) throws -> [String] {
        if let bundle { try CommandError.requireMeantApp(bundle, session) }
        return []
    }

    func edit(_ editor: PolicyEditor, _: Void) throws {
        guard try editor.copyRule(key, to: new, bundle: bundle, enabled: enable) else {
            throw try CommandError.noSuchRule(key, editor.session)
        }
    }
}

struct RuleEnable: EditVerb {
    static let configuration = command("enable", "Turn a rule on.", "versiongate rule enable update-1.2")

    @Argument(help: "The key of the rule.") var key: String

    func edit(_ editor: PolicyEditor, _: Void) throws { try editor.edit(rule: key, set: [.init(\.enabled, true)]) }
}

struct RuleDisable: EditVerb {
    static let configuration = command(
        "disable", "Turn a rule off; it reaches nobody until it is enabled again.",
        #"versiongate rule disable update-1.2 --why "wrong text""#
    )

    @Argument(help: "The key of the rule.") var key: String

    func edit(_ editor: PolicyEditor, _: Void) throws {
        try editor.edit(rule: key, set: [.init(\.enabled, false)])
    }
}

struct RuleRollout: EditVerb {
    static let configuration = command(
        "rollout", "Set the share of installs that a rule reaches, from now on.",
        "versiongate rule rollout update-1.2 25%",
        discussion:
            "Raising the share only adds installs; none is dropped. Planned steps of the rule are removed, and a hold ends."
    )

    @Argument(help: "The key of the rule.") var key: String
    @Argument(help: "0 to 100, with up to two decimals; a percent sign may follow.", transform: PercentArgument.parse)
    var percent: String

    func edit(_ editor: PolicyEditor, _: Void) throws {
        try editor.edit(rule: key)
        try editor.setRollout(rule: key, to: percent)
    }
}

struct RuleHold: EditVerb {
    static let configuration = command(
        "hold", "Hold a rule's planned steps: it keeps the share that it has now.",
        #"versiongate rule hold update-1.2 --why "more crashes""#,
        discussion: "Installs that get the message keep getting it; none is added until `versiongate rule resume`."
    )

    @Argument(help: "The key of the rule.") var key: String

    func edit(_ editor: PolicyEditor, _: Void) throws {
        try editor.edit(rule: key)
        try editor.hold(rule: key)
    }

    func summary(_ session: PostgresSession) throws -> String? { try RuleRamp.summary(ofRule: key, session) }
}

struct RuleResume: EditVerb {
    static let configuration = command(
        "resume", "Resume a rule's planned steps after a hold.", "versiongate rule resume update-1.2",
        discussion: "The remaining steps move by as long as the rule was held, so none is skipped."
    )

    @Argument(help: "The key of the rule.") var key: String

    func edit(_ editor: PolicyEditor, _: Void) throws {
        try editor.edit(rule: key)
        try editor.resume(rule: key)
    }

    func summary(_ session: PostgresSession) throws -> String? { try RuleRamp.summary(ofRule: key, session) }
}

struct RuleRemove: EditVerb {
    static let configuration = command(
        "remove", "Remove a rule with its texts and steps.", "versiongate rule remove update-1.2",
        discussion: "To stop a rule for a while, disable it instead."
    )

    @Argument(help: "The key of the rule.") var key: String

    var asksAboutRemovals: Bool { true }

    func edit(_ editor: PolicyEditor, _: Void) throws {
        guard try editor.delete(where: [.init(\Rule.key, key)]) > 0 else {
            throw try CommandError.noSuchRule(key, editor.session)
        }
    }
}

struct RuleOptions: ParsableArguments {
    @Option(help: "The app; without it, the rule is for every app.") var bundle: String?
    @Option("range", "App versions, as a range: '<1.2', '>=2.3 <2.3.5', '1.2.x || 1.4'.") var versions: String?
    @Option("range", "Builds, as a range.") var builds: String?
    @Option("range", "Versions of the operating system, as a range.") var os: String?
    @Option(each: "platform", "A platform (ios, android, macos, ...)") var platforms: [String]
    @Option(each: "region", "A country, as two upper-case letters (JP)", valueName: "country") var regions: [String]
    @Option(each: "language", "A language (de, zh-Hant)") var languages: [String]
    @Option(
        each: "attribute",
        "What another member of the check must be: channel=beta, 'tier!=staff', 'stamp<45'; also several of one name",
        valueName: "name=value", AttributeCondition.parse
    )
    var attributes: [AttributeCondition]
    @Option("version", "The version that clients are asked to reach, as soon as they can get it.") var target: String?
    @Option(duration: "How long a release must have been live: '2 days', '36h'.") var soak: String?
    @Option(time: "When the rule begins to apply.") var startsAt: TimeArgument?
    @Option(time: "When it ceases to apply.") var endsAt: TimeArgument?
    @Option("url|store", "Where the message leads: a URL, or 'store' for the app's store link.") var link: String?
    @Option(duration: "How long after it was shown the message may be shown again: '1 day', '36h'.") var remind: String?
    @Option(number: "How often the message may be shown on one installation, 1 to 1,000.") var shows: Int64?
    @Flag(column: "Let people choose never to see the message again.") var skippable: Bool?
    @Flag(column: "Lock the app until it is updated. Sent only to clients that have a way out.") var lockout: Bool?
    @Flag(column: "Lock out clients without a way out as well (maintenance, end of a platform).")
    var lockoutWithoutUpdate: Bool?
    @Option(percent: "Remove the lockout automatically above this share of an app's checks.") var fuse: String?
    @Flag(column: "When this message is sent, send none after it.") var final: Bool?
    @Option(number: "The order of messages; lower comes first.") var position: Int64?
    @Option(help: "A note for the people who edit; never sent.") var note: String?

    func validate() throws {
        for attribute in attributes {
            let first = attributes.first { UTF8Text($0.name) == UTF8Text(attribute.name) }
            guard first?.values.joined(with: attribute.values) == nil else { continue }
            throw ValidationError(
                "--attribute \(attribute.name): values with =, values with != and a range cannot be joined; give one of the three, and a range with || once."
            )
        }
    }

    var warnings: [String] {
        attributes.compactMap { attribute in
            guard let value = attribute.values.texts.first?.string,
                value.wholeMatch(of: /True|TRUE|False|FALSE|.*\*/) != nil
            else { return nil }
            let cure = value.hasSuffix("*") ? "write each value" : "a boolean is \(value.lowercased())"
            let given = "--attribute \(attribute.name)\(attribute.values.isNot ? "!=" : "=")\(value)"
            return "Warning: \(given) is compared letter by letter, without wildcards; \(cure)"
        }
    }
}

/// What a shell does not do with a text, and somebody may have meant.
enum MessageText {
    static func warnings(title: String?, text: String?) -> [String] {
        [("--title", title), ("--text", text)].compactMap { option, text in
            guard let text else { return nil }
            if text.wholeMatch(of: /@\S+/) != nil {
                return
                    "Warning: \(option) is \(text), and no file is read; write \(option) \"$(cat \(text.dropFirst()))\""
            }
            guard text.contains("\\n") else { return nil }
            return
                "Warning: \(option) has \\n in it, two characters that are shown as they are; to write a line break: "
                + "\(option) $\(text.shellWord.hasPrefix("'") ? text.shellWord : "'\(text)'")"
        }
    }
}
