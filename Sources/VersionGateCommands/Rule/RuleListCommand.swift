import ArgumentParser
import PolicyStore
import Reports
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
        help: ArgumentHelp("Only the rules of this app, and those for every app.", valueName: "bundle")
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
            var rules = try reports.rules(bundle: bundle, search: search)
            if rules.contains(where: { $0.status.locksOut($0.rule) }),
                let brake = ServerSession.brake(of: try ServerSession.all(reports.session))
            {
                CommandError(brake).printAsWarning()
            }
            if output.format == .table {
                // What sends messages comes before what may do so by itself, and that before what does not.
                let ranks = Dictionary(grouping: rules) { _, status in
                    status.name.isSent ? 0 : status.name == .disabled || status.name == .ended ? 2 : 1
                }
                rules = (0...2).flatMap { ranks[$0] ?? [] }
            }
            output.print(Report.rules(rules, at: now, ifEmpty: nothingFound))
        }
    }

    private var nothingFound: Sentence {
        let app = bundle.map { " of \($0)" } ?? ""
        if let search { return "No rule\(app) has \"\(search)\" in it." }
        return "No rules\(app). To add one: \(command: "rule add --help")"
    }
}
