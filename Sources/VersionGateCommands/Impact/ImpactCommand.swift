import ArgumentParser
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

/// `versiongate impact`
struct ImpactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "impact",
        abstract: "Show the share of recent checks that a rule reaches, or would reach.",
        discussion: """
            Judged by the checks that servers have counted: the share that the rule reaches now, would reach if it \
            were enabled, at each planned step and at 100 %; how many would be locked out, and how many would get the \
            message without the lockout because they have no way out; by version and platform. The policy as a whole \
            decides: a rule behind a final one, or of a paused app, reaches nobody. A second chart shows how often the \
            rule was sent, with its edits.

            The counts are claims of clients. Conditions on languages and attributes are not counted, so the figures \
            say how many at most.

            With --format json: an object with rule, bundle (null: every app), enabled, days, checks (of known kinds \
            of clients), not_known (checks), uncounted (conditions that make figures an upper bound: languages, \
            attributes, rollout), stages, rows and pre_releases. A stage has stage (now, enabled, step, everybody), at \
            (null for everybody), rollout (percent), and the checks reached, locked_out and without_way_out, each also \
            as a share of all checks (reached_share, ...). A row has bundle, platform, version, checks and the same \
            stages, shares being those of the row. A pre-release has version, release and checks. unreadable_versions \
            has for each app bundle, checks, share and examples (version, checks) of versions that cannot be read.

            Examples:
              versiongate impact bad-1.1
              versiongate impact update-1.2 --days 30 --format json
            """
    )

    @Argument(help: "The key of the rule.")
    var key: String

    @OptionGroup var period: DaysOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        output.print(
            try await database.read { reports in
                let session = reports.session
                let now = try CommandClock(session).now
                let bundle = try PolicyReader.bundle(ofRule: key, session)
                let policy = try bundle.map { try PolicyReader.policy(session, bundles: $0.map { [$0] }) }
                guard let policy, let rule = policy.rules.first(where: { $0.key == key }) else {
                    throw try CommandError.noSuchRule(key, session)
                }
                let figures = try RuleFigures(of: rule, in: policy, days: period.days, at: now, session)
                guard !figures.recent.isEmpty else { throw CommandError.noCounts(of: rule.bundle, days: period.days) }
                return Report.impact(figures, at: now)
            }
        )
    }
}
