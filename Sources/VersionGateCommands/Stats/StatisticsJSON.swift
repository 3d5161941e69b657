import PolicyStore
import UpdatePolicy

/// The statistics of an app for programs: one object.
struct StatisticsJSON {
    private let figures: AppFigures
    private let daily: [PeriodCount]

    /// Prepares an object.
    ///
    /// - Parameter daily: The checks by day and version.
    init(_ figures: AppFigures, daily: [PeriodCount]) {
        self.figures = figures
        self.daily = daily
    }

    /// The object.
    var object: JSONValue {
        let days = Dictionary(grouping: daily, by: \.start).sorted { $0.key < $1.key }
        return [
            "bundle": figures.bundle, "days": figures.days, "checks": figures.total.checks,
            "messages": figures.total.messages, "lockouts": figures.total.lockouts,
            "merged": figures.merged?.checks ?? 0, "by_day": days.map(day),
            "platforms": figures.platforms.map(platform), "current": current,
            "newest_releases": figures.adoptions.map(adoption), "unreadable": figures.unreadable?.json,
            "pre_releases": figures.preReleases.map(\.json),
        ]
    }

    private func day(_ start: Timestamp, _ counts: [PeriodCount]) -> JSONValue {
        let named = counts.map { PlatformChecks(platform: nil, name: $0.version, checks: $0.checks) }
        let versions = AppFigures.versions(named, platform: nil).map { version -> JSONValue in
            ["version": version.version, "checks": version.checks]
        }
        return [
            "day": NumberText.date(start), "checks": counts.reduce(0) { $0 + $1.checks },
            "messages": counts.reduce(0) { $0 + $1.messages }, "lockouts": counts.reduce(0) { $0 + $1.lockouts },
            "versions": versions,
        ]
    }

    private func platform(_ platform: AppFigures.PlatformCount) -> JSONValue {
        [
            "platform": platform.platform, "checks": platform.checks,
            "share": Double(platform.checks) / Double(figures.total.checks),
        ]
    }

    private var current: JSONValue {
        let versions = figures.current.map { version -> JSONValue in
            [
                "platform": version.platform, "version": version.version, "checks": version.checks,
                "share": Double(version.checks) / Double(figures.currentChecks),
            ]
        }
        return ["since": figures.currentSince, "checks": figures.currentChecks, "versions": versions]
    }

    private func adoption(_ adoption: AppFigures.Adoption) -> JSONValue {
        let newest = adoption.newest
        return [
            "platform": newest.release.platform, "version": newest.release.version.text,
            "live_at": newest.release.liveAt, "share": adoption.share, "half_at": newest.start(reaching: 50),
            "seconds_to_half": newest.microseconds(toReach: 50).map { $0 / 1_000_000 },
        ]
    }
}
