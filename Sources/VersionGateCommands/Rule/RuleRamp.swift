import ArgumentParser
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

struct RuleRamp: EditVerb {
    static let configuration = command(
        "ramp", "Plan a rule's rollout in steps, each from its time on.",
        "versiongate rule ramp update-1.2 5%@now 25%@+1h 100%@+24h", "versiongate rule ramp update-1.2 --clear",
        discussion: """
            The steps replace those that were planned before, and a hold ends. Nobody needs to be awake for them: the \
            clock at the time of a check decides. Until the first of them, an enabled rule keeps its present share.
            """
    )

    struct Step: Sendable {
        let percent: String
        let time: TimeArgument

        static func parse(_ argument: String) throws -> Step {
            let halves = argument.split(separator: "@", omittingEmptySubsequences: false)
            guard halves.count == 2, halves[0].first?.isNumber == true || halves[0].hasPrefix("-") else {
                throw CommandError("write a percentage, \"@\" and the time from which it applies: 25%@+1h")
            }
            return Step(
                percent: try PercentArgument.parse(String(halves[0])),
                time: try TimeArgument.parse(String(halves[1]))
            )
        }
    }

    @Argument(help: "The key of the rule.") var key: String
    @Argument(
        help: ArgumentHelp("The steps; percentages never fall over time.", valueName: "percent@time"),
        transform: Step.parse
    )
    var steps: [Step] = []
    @Flag(help: "Remove the planned steps and keep the percentage that is in force now.") var clear = false

    func validate() throws {
        if clear != steps.isEmpty {
            throw ValidationError("Give the steps of the ramp (5%@now 100%@+24h), or --clear to remove them.")
        }
    }

    func values(_ clock: CommandClock) throws -> (now: Timestamp, times: [Timestamp]) {
        let times = try steps.map { try clock.moment($0.time, of: "step \($0.percent)%") }
        if let again = times.indices.first(where: { times[..<$0].contains(times[$0]) }) {
            throw CommandError("two steps are at \(TimeText.local(times[again])); leave one of them out")
        }
        return (clock.now, times)
    }

    func edit(_ editor: PolicyEditor, _ values: (now: Timestamp, times: [Timestamp])) throws {
        try editor.edit(rule: key)
        guard !clear else { return try editor.setRollout(rule: key) }
        let steps = zip(steps, values.times).map { (time: $1, percent: $0.percent) }
        try editor.ramp(rule: key, steps, now: values.now)
    }

    static func summary(ofRule key: String, _ session: PostgresSession) throws -> String? {
        guard let rule = try PolicyReports(session).rule(key)?.rule else { return nil }
        let now = try CommandClock(session).now
        let cure = rule.holdInForce(at: now) == nil ? "" : " To resume it: \(PrintedCommand("rule resume \(key)"))"
        let installs = Report.installs(rule, at: now).text(at: nil) { TimeText.local($0, from: now) }
        return "\(key): \(installs)\(cure)"
    }
}

struct RuleTranslate: EditVerb {
    static let configuration = command(
        "translate", "Give a rule's message in another language.",
        #"versiongate rule translate update-1.2 de --title "Bitte aktualisieren" --text "{app} {target} ist da.""#,
        "versiongate rule translate update-1.2 de --remove",
        discussion: "Clients get the best match for their language (zh-Hant-TW, zh-Hant, zh), else the rule's own text."
    )

    @Argument(help: "The key of the rule.") var key: String
    @Argument(help: "The language, as a BCP 47 tag: de, pt-BR, zh-Hant.") var language: String
    @Option(help: "The title in that language.") var title: String?
    @Option(help: "The text in that language.") var text: String?
    @Flag(help: "Remove the translation.") var remove = false

    func validate() throws {
        if remove, title != nil || text != nil {
            throw ValidationError("--remove takes the translation away; leave --title and --text out.")
        }
        if !remove, title == nil, text == nil {
            throw ValidationError("Give --title and --text, or --remove.")
        }
    }

    func edit(_ editor: PolicyEditor, _: Void) throws {
        try editor.edit(rule: key)
        let translation: [ColumnValue<RuleText>] = [.owner(key), .init(\.language, language)]
        if remove {
            guard try editor.delete(where: translation) > 0 else {
                throw CommandError(
                    "the rule \(key) has no text in \(language); `\(PrintedCommand("rule show \(key)"))` shows its texts"
                )
            }
            return
        }
        let given: [ColumnValue<RuleText>?] = [title.map { .init(\.title, $0) }, text.map { .init(\.text, $0) }]
        let changes = given.compactMap(\.self)
        if try editor.update(where: translation, set: changes) > 0 { return }
        guard title != nil, text != nil else {
            throw CommandError("the rule \(key) has no text in \(language) yet; give both --title and --text")
        }
        try editor.insert(translation + changes)
    }

    func warnings(_ session: PostgresSession) throws -> [String] { MessageText.warnings(title: title, text: text) }
}
