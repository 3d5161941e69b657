package import PolicyStore
package import UpdatePolicy

extension Report {
    /// The most versions that are shown one by one.
    private static let mostCurrentVersions = 20

    /// Who uses which version of an app, and how the newest releases spread.
    package static func statistics(_ counts: AppCounts, isForPrograms: Bool, at now: Timestamp) throws -> Report {
        let (total, current) = (try counts.total(), try counts.current())
        var notes = CountNotes.tooFew(total.checks) + [CountNotes.unverified]
        notes += CountNotes.warnings([try counts.merged()].compactMap(\.self))
        notes += CountNotes.warnings([try counts.unreadable()].compactMap(\.self))
        notes += CountNotes.warnings(try counts.preReleases())
        let charts = try counts.charts.map { Part.chart(try $0.chart()) }
        return Report(
            at: now,
            [
                .text(
                    "\(counts.bundle): \(NumberText.checks(total.checks)) in \(counts.period.text), \(total.messageShare) with a message, \(total.lockoutShare) locked out"
                ),
                .fields(isForPrograms ? try members(counts) : []),
            ] + charts.prefix(1) + [.table(try platforms(counts)), .table(currentVersions(current))]
                + charts.dropFirst() + notes
        )
    }

    private static func platforms(_ counts: AppCounts) throws -> Table {
        Table(
            ifEmpty: "", try counts.platforms(),
            columns: [Column("Platform", isName: true) { .text($0.platform ?? "(unknown)") }]
                + shares(of: try counts.total().checks) { $0.checks }
        )
    }

    private static func currentVersions(_ current: (since: Timestamp, versions: [NamedChecks])) -> Table {
        let most = mostCurrentVersions
        var rows = current.versions.prefix(most).map { version in
            ([version.name ?? "(unknown)", version.platform ?? "(unknown)"], version.checks)
        }
        let others = current.versions.dropFirst(most)
        if !others.isEmpty { rows.append((["\(others.count) more", ""], others.reduce(0) { $0 + $1.checks })) }
        return Table(
            caption: "Checks since \(time: current.since):", ifEmpty: "", rows,
            columns: [
                Column("Version", isName: true) { .text($0.0[0]) }, Column("Platform", isName: true) { .text($0.0[1]) },
            ] + shares(of: current.versions.reduce(0) { $0 + $1.checks }) { $0.1 }
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

    private static func members(_ counts: AppCounts) throws -> [Field] {
        let (total, current) = (try counts.total(), try counts.current())
        let days = try counts.daily().map { start, total, versions -> JSONValue in
            [
                "day": NumberText.date(start), "checks": total.checks, "messages": total.messages,
                "lockouts": total.lockouts,
                "versions": versions.map { version -> JSONValue in ["version": version.name, "checks": version.checks]
                },
            ]
        }
        let platforms = try counts.platforms().map { platform -> JSONValue in
            [
                "platform": platform.platform, "checks": platform.checks,
                "share": Double(platform.checks) / Double(total.checks),
            ]
        }
        let currentChecks = current.versions.reduce(0) { $0 + $1.checks }
        let versions = current.versions.map { version -> JSONValue in
            [
                "platform": version.platform, "version": version.name, "checks": version.checks,
                "share": Double(version.checks) / Double(currentChecks),
            ]
        }
        let adoptions = try counts.adoptions().map { adoption -> JSONValue in
            let newest = adoption.newest
            return [
                "platform": newest.release.platform, "version": newest.release.version.text,
                "live_at": newest.release.liveAt, "share": adoption.share, "half_at": newest.start(reaching: 50),
                "seconds_to_half": newest.microseconds(toReach: 50).map { $0 / 1_000_000 },
            ]
        }
        return Field.members([
            "bundle": counts.bundle, "days": counts.period.days, "checks": total.checks,
            "messages": total.messages, "lockouts": total.lockouts,
            "merged": try counts.merged()?.checks ?? 0, "by_day": days, "platforms": platforms,
            "current": ["since": current.since, "checks": currentChecks, "versions": versions] as JSONValue,
            "newest_releases": adoptions, "unreadable": try counts.unreadable()?.json,
            "pre_releases": try counts.preReleases().map(\.json),
        ])
    }
}
