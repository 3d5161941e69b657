import ArgumentParser
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

struct Impact: ReadVerb {
    static let configuration = command(
        "impact", "Show the share of recent checks that a rule reaches, or would reach.",
        "versiongate impact bad-1.1", "versiongate impact update-1.2 --days 30 --format json",
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
            """
    )

    @Argument(help: "The key of the rule.") var key: String
    @OptionGroup var period: DaysOption

    func report(_ reports: PolicyReports, as _: OutputFormat) throws -> Report {
        let (session, now) = (reports.session, try reports.now)
        let bundle = try PolicyReader.bundle(ofRule: key, session)
        let policy = try bundle.map { try PolicyReader.policy(session, bundles: $0.map { [$0] }) }
        guard let policy, let rule = policy.rules.first(where: { $0.key == key }) else {
            throw try CommandError.noSuchRule(key, session)
        }
        let counts = RuleCounts(of: rule, in: policy, days: period.days, at: now, session)
        guard try !counts.recent().isEmpty else { throw CommandError.noCounts(of: rule.bundle, days: period.days) }
        return try .impact(counts, at: now)
    }
}

struct DaysOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("Use the checks of the last days, 1 to 3660.", valueName: "days"),
        transform: WholeNumber.parse
    )
    var days = RecentChecks.usualDays

    func validate() throws {
        guard (1...3_660).contains(days) else {
            throw ValidationError("--days is \(days); it must be a whole number from 1 to 3660.")
        }
    }
}

struct Stats: ReadVerb {
    static let configuration = command(
        "stats", "Show which versions of an app are in use, and how fast the newest spread.",
        "versiongate stats com.example.doto", "versiongate stats com.example.doto --days 90 --format json",
        discussion: """
            From the checks that servers have counted: versions over time, platforms, the versions of the last day, \
            how the newest release of each platform spreads beside the one before it, checks with messages and \
            lockouts with the edits of the app's rules, systems and regions. A day is that of UTC; --days 1 shows the \
            last 24 hours one by one. The counts are claims of clients.

            With --format json: an object with bundle, days, checks, messages, lockouts, by_day (an array of day, \
            checks, messages, lockouts and versions, each with version and checks), platforms (platform, checks, \
            share), current (since, checks, and versions with platform, version, checks and share) and newest_releases \
            (platform, version, live_at, share of the platform's current checks, half_at and seconds_to_half, both \
            null until half is reached), unreadable (checks, share, examples of versions that cannot be read; null for \
            none), and pre_releases (version, release and checks of versions that are read as pre-releases of a \
            release). Shares are from 0 to 1; version and platform are null where clients sent none that can be read.
            """
    )

    @Argument(help: "The bundle of the app.") var bundle: String
    @OptionGroup var period: DaysOption

    func report(_ reports: PolicyReports, as format: OutputFormat) throws -> Report {
        let (session, now) = (reports.session, try reports.now)
        let policy = try PolicyReader.policy(session, bundles: [bundle])
        guard let app = policy.apps.first else { throw try CommandError.noSuchApp(bundle, session) }
        let counts = AppCounts(bundle: bundle, in: policy, days: period.days, at: now, session)
        guard try counts.total().checks > 0 else { throw CommandError.noCounts(of: app.bundle, days: period.days) }
        return try .statistics(counts, isForPrograms: format == .json, at: now)
    }
}
