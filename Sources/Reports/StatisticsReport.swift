package import PolicyStore
package import UpdatePolicy

extension Report {
    /// The most versions that are shown one by one.
    private static let mostCurrentVersions = 20

    /// Who uses which version of an app, and how the newest releases spread.
    ///
    /// - Parameter daily: The checks by day and version, for programs.
    package static func statistics(_ figures: AppFigures, daily: [PeriodCount], at now: Timestamp) -> Report {
        let total = figures.total
        var notes = CountNotes.tooFew(total.checks) + [CountNotes.unverified]
        notes += CountNotes.warnings([figures.merged].compactMap(\.self))
        notes += CountNotes.warnings([figures.unreadable].compactMap(\.self))
        notes += CountNotes.warnings(figures.preReleases)
        let charts = figures.charts.map { Part.chart($0) }
        return Report(
            at: now,
            [
                .text(
                    "\(figures.bundle): \(NumberText.checks(total.checks)) in \(figures.period.text), \(total.messageShare) with a message, \(total.lockoutShare) locked out"
                ),
                .fields(members(figures, daily)),
            ] + charts.prefix(1) + [.table(platforms(figures)), .table(currentVersions(figures))] + charts.dropFirst()
                + notes
        )
    }

    private static func platforms(_ figures: AppFigures) -> Table {
        Table(
            ifEmpty: "", figures.platforms,
            columns: [Column("Platform", isName: true) { .text($0.platform ?? "(unknown)") }]
                + shares(of: figures.total.checks) { $0.checks }
        )
    }

    private static func currentVersions(_ figures: AppFigures) -> Table {
        let most = mostCurrentVersions
        var rows = figures.current.prefix(most).map { version in
            ([version.version ?? "(unknown)", version.platform ?? "(unknown)"], version.checks)
        }
        let others = figures.current.dropFirst(most)
        if !others.isEmpty { rows.append((["\(others.count) more", ""], others.reduce(0) { $0 + $1.checks })) }
        return Table(
            caption: "Checks since \(time: figures.currentSince):", ifEmpty: "", rows,
            columns: [
                Column("Version", isName: true) { .text($0.0[0]) }, Column("Platform", isName: true) { .text($0.0[1]) },
            ] + shares(of: figures.currentChecks) { $0.1 }
        )
    }

    /// Columns of checks, their share and its bar.
    private static func shares<Row>(of whole: Int64, _ checks: @escaping @Sendable (Row) -> Int64) -> [Column<Row>] {
        [
            Column("Checks") { .count(checks($0)) },
            Column("Share") { .figure(NumberText.share(Double(checks($0)), of: Double(whole))) },
            Column("") { .bar(Double(checks($0)) / Double(whole)) },
        ]
    }

    private static func members(_ figures: AppFigures, _ daily: [PeriodCount]) -> [Field] {
        let days = Dictionary(grouping: daily, by: \.start).sorted { $0.key < $1.key }.map {
            start, counts -> JSONValue in
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
        let platforms = figures.platforms.map { platform -> JSONValue in
            [
                "platform": platform.platform, "checks": platform.checks,
                "share": Double(platform.checks) / Double(figures.total.checks),
            ]
        }
        let versions = figures.current.map { version -> JSONValue in
            [
                "platform": version.platform, "version": version.version, "checks": version.checks,
                "share": Double(version.checks) / Double(figures.currentChecks),
            ]
        }
        let current: JSONValue = [
            "since": figures.currentSince, "checks": figures.currentChecks, "versions": versions,
        ]
        let adoptions = figures.adoptions.map { adoption -> JSONValue in
            let newest = adoption.newest
            return [
                "platform": newest.release.platform, "version": newest.release.version.text,
                "live_at": newest.release.liveAt, "share": adoption.share, "half_at": newest.start(reaching: 50),
                "seconds_to_half": newest.microseconds(toReach: 50).map { $0 / 1_000_000 },
            ]
        }
        return Field.members([
            "bundle": figures.bundle, "days": figures.days, "checks": figures.total.checks,
            "messages": figures.total.messages, "lockouts": figures.total.lockouts,
            "merged": figures.merged?.checks ?? 0, "by_day": days, "platforms": platforms, "current": current,
            "newest_releases": adoptions, "unreadable": figures.unreadable?.json,
            "pre_releases": figures.preReleases.map(\.json),
        ])
    }
}
