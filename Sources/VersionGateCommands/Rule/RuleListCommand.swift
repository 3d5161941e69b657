import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule list`
struct RuleListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the rules: those that send messages first, those that are disabled or over last.",
        discussion: """
            STATUS is the same as in the view rule_status; `versiongate rule show` says why. Rules of one kind are in the \
            order of their messages, which is that of --format json as well.

            Examples:
              versiongate rule list --bundle com.example.doto
              versiongate rule list --search "please update"
            """
    )

    @Option(
        help: ArgumentHelp("Only the rules of this app, and those for every app.", valueName: "bundle"),
        completion: .bundles
    )
    var bundle: String?

    @Option(
        help: ArgumentHelp(
            "Only rules with this in their key, title, text, note or translations; case does not count.",
            valueName: "text"
        )
    )
    var search: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            try reports.warnOfUnknownApp(bundle)
            let now = try CommandClock(reports.session).now
            let rules = try reports.rules(bundle: bundle, search: search)
            if rules.contains(where: { $0.status.locksOut($0.rule) }),
                let brake = ServerSession.brake(of: try ServerSession.all(reports.session))
            {
                CommandError(brake).printAsWarning()
            }
            try output.print(
                Self.rows(rules, now), json: try reports.rulesJSON(bundle: bundle, search: search),
                ifEmpty: nothingFound
            )
        }
    }

    private var nothingFound: String {
        let app = bundle.map { " of \($0.visible())" } ?? ""
        if let search { return "No rule\(app) has \"\(search.visible())\" in it." }
        return "No rules\(app). To add one: \(PrintedCommand("rule add --help"))"
    }

    /// What sends messages comes before what may do so by itself, and that before what does not.
    private static func rows(_ rules: [(rule: Rule, status: RuleStatus)], _ now: Timestamp) -> [Row] {
        let ranks = rules.map { _, status in
            status.name.isSent ? 0 : status.name == .disabled || status.name == .ended ? 2 : 1
        }
        return rules.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }.map { index in
            let (rule, status) = rules[index]
            return Row(
                rule: rule, status: status, rollout: rule.rollout(at: now), isHeld: rule.holdInForce(at: now) != nil
            )
        }
    }

    private struct Row: ListRow {
        let rule: Rule
        let status: RuleStatus
        let rollout: Percentage
        let isHeld: Bool

        static let header = ["KEY", "STATUS", "LOCKOUT", "ROLLOUT", "APP", "WHO", "HINTS", "TITLE"]
        static let silent = ["ROLLOUT": "100 %", "LOCKOUT": "no"]

        var cells: [String] {
            let hints = [
                rule.remind.map { "remind \($0)" }, rule.shows.map { "shows \($0)" },
                rule.skippable ? "skippable" : nil,
            ]
            return [
                rule.key, status.name.rawValue,
                rule.lockout ? (rule.lockoutWithoutUpdate ? "always" : "yes") : "no",
                "\(rollout) %\(isHeld ? ", held" : "")",
                rule.bundle ?? "every app", rule.audience, hints.compactMap(\.self).joined(separator: ", "), rule.title,
            ]
        }
    }
}
