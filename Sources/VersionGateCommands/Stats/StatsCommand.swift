import ArgumentParser
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

/// `versiongate stats`
struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Show which versions of an app are in use, and how fast the newest spread.",
        discussion: """
            From the checks that servers have counted: versions over time, platforms, the versions of the last day, \
            how the newest release of each platform spreads beside the one before it, checks with messages and lockouts \
            with the edits of the app's rules, systems and regions. A day is that of UTC; --days 1 shows the last 24 \
            hours one by one. The counts are claims of clients.

            With --format json: an object with bundle, days, checks, messages, lockouts, by_day (an array of day, \
            checks, messages, lockouts and versions, each with version and checks), platforms (platform, checks, \
            share), current (since, checks, and versions with platform, version, checks and share) and newest_releases \
            (platform, version, live_at, share of the platform's current checks, half_at and seconds_to_half, both \
            null until half is reached), unreadable (checks, share, examples of versions that cannot be read; null for \
            none), and pre_releases (version, release and checks of versions that are read as pre-releases of a release). \
            Shares are from 0 to 1; version and platform are null where clients sent none that can be read.

            Examples:
              versiongate stats com.example.doto
              versiongate stats com.example.doto --days 90 \\
                --format json
            """
    )

    @Argument(help: "The bundle of the app.")
    var bundle: String

    @OptionGroup var period: DaysOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        output.print(
            try await database.read { reports in
                let session = reports.session
                let policy = try PolicyReader.policy(session, bundles: [bundle])
                guard let app = policy.apps.first else { throw try CommandError.noSuchApp(bundle, session) }
                let now = try CommandClock(session).now
                let figures = try AppFigures(bundle: bundle, in: policy, days: period.days, at: now, session)
                guard figures.total.checks > 0 else { throw CommandError.noCounts(of: app.bundle, days: period.days) }
                let daily =
                    output.format == .json
                    ? try CountReader(session).dailyCounts(of: app.bundle, in: figures.period) : []
                return Report.statistics(figures, daily: daily, at: now)
            }
        )
    }
}
