import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule show`
struct RuleShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a rule with its texts, its planned steps and what its ranges mean.",
        discussion: """
            Example:
              versiongate rule show update-1.2
            """
    )

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            switch output.format {
            case .json:
                guard let json = try reports.ruleJSON(key) else {
                    throw try CommandError.noSuchRule(key, reports.session)
                }
                print(json)
            case .table:
                let now = try CommandClock(reports.session).now
                guard let rule = try reports.rule(key),
                    let status = try RuleStatus.all(reports.session, keys: [key])[key]
                else {
                    throw try CommandError.noSuchRule(key, reports.session)
                }
                let fuse = rule.fuse == nil ? nil : try FuseStatus.all(reports.session)?.first { $0.rule == key }
                let brake =
                    status.locksOut(rule) ? ServerSession.brake(of: try ServerSession.all(reports.session)) : nil
                print(RecordText(Self.facts(rule, status, brake, at: now) + Self.fields(rule, fuse, at: now)).text)
                if !rule.steps.isEmpty { print("\n" + RampChart(rule: rule, now: now).text) }
            }
        }
    }

    /// What is so about the rule, and whom it is for.
    private static func facts(_ rule: Rule, _ status: RuleStatus, _ brake: String?, at now: Timestamp) -> [RecordField]
    {
        let reason = status.reason.map { ": \(ChangeWords.local.sentence($0))" } ?? ""
        return [
            RecordField(name: "status", value: status.name.rawValue + reason),
            RecordField(name: "brake", value: brake),
            RecordField(name: "next", value: status.next.map { TimeText.local($0, from: now) }),
            RecordField(name: "who", value: rule.audience),
        ]
    }

    /// The columns and the texts; the steps have a chart.
    private static func fields(_ rule: Rule, _ fuse: FuseStatus?, at now: Timestamp) -> [RecordField] {
        let rollout = Rule.column(\.rollout).name
        let texts = rule.texts.map { "\($0.language)  \($0.title)  \($0.text)" }
        return rule.fields(at: now).map { field in
            if let fuse, field.name == Rule.column(\.fuse).name {
                return RecordField(name: field.name, value: "\(fuse.fuse) %. \(fuse.sentence(time: TimeText.local))")
            }
            guard field.name == rollout, !rule.steps.isEmpty else { return field }
            let plan = rule.holdInForce(at: now) == nil ? "then as planned below" : "its steps are held"
            return RecordField(name: rollout, value: "\(rule.rollout(at: now)) % now, \(plan)")
        } + [RecordField(name: "texts", value: texts.isEmpty ? nil : texts.joined(separator: "\n"))]
    }
}
