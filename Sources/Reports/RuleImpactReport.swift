package import PolicyStore
package import UpdatePolicy

extension Report {
    /// The most versions that are shown one by one.
    private static let mostVersions = 25

    /// Whom a rule reaches, by what was counted.
    package static func impact(_ counts: RuleCounts, at now: Timestamp) throws -> Report {
        let (rule, recent, impact) = (counts.rule, try counts.recent(), try counts.impact())
        let period = "the last \(recent.days == 1 ? "day" : "\(recent.days) days")"
        let unreadable = UnreadableVersions.byApp(among: recent.clients)
        var notes: [Part] = []
        if rule.lockout, impact.total.contains(where: { $0.withoutWayOut > 0 }) {
            notes.append(
                .hint("No update: they get the message but are not locked out, as there is no update for them.")
            )
        }
        if counts.isPaused { notes.append(.hint("The app is paused, so no rule reaches it.")) }
        if let end = rule.endsAt, end <= now {
            notes.append(.hint("The rule ended at \(timeAndDistance: end), so it reaches nobody."))
        }
        notes += CountNotes.all(uncounted: impact.uncounted, recent: recent)
        let preReleases = try counts.preReleases()
        notes += CountNotes.warnings(preReleases) + CountNotes.warnings(unreadable)
        let charts = try counts.charts.map { Part.chart(try $0.chart()) }
        return Report(
            at: now,
            [
                .text("\(rule.key): \(NumberText.checks(impact.checks)) of \(rule.bundle ?? "every app") in \(period)"),
                .fields(members(rule, recent, impact, preReleases, unreadable)),
            ] + charts.prefix(1) + [.table(versions(rule, impact))] + charts.dropFirst() + notes
        )
    }

    private static func versions(_ rule: Rule, _ impact: RuleImpact) -> Table {
        typealias Row = (names: [String], checks: Int64, now: RuleImpact.Reach, all: RuleImpact.Reach)
        let sorted = impact.rows.sorted { $0.checks > $1.checks }
        var rows: [Row] = sorted.prefix(mostVersions).map { row in
            ([row.group.bundle] + row.group.words, row.checks, row.reach[0], row.reach[row.reach.count - 1])
        }
        let others = sorted.dropFirst(mostVersions)
        if !others.isEmpty {
            func sum(_ stage: Int) -> RuleImpact.Reach { others.reduce(into: .init()) { $0 += $1.reach[stage] } }
            let checks = others.reduce(0) { $0 + $1.checks }
            rows.append((["others", "\(others.count) more", ""], checks, sum(0), sum(impact.stages.count - 1)))
        }
        func share(_ title: String, _ part: @escaping @Sendable (Row) -> Double) -> Column<Row> {
            Column(title) { .figure(NumberText.share(part($0), of: Double($0.checks))) }
        }
        func bar(isHigh: Bool = false, _ part: @escaping @Sendable (Row) -> Double) -> Column<Row> {
            Column("") { $0.checks > 0 ? .bar(part($0) / Double($0.checks), isHigh: isHigh) : .bar(0) }
        }
        let isOfOneApp = Set(impact.rows.map(\.group.bundle)).count < 2
        let app: [Column<Row>] = isOfOneApp ? [] : [Column("App", isName: true) { .text($0.names[0]) }]
        let reach: [Column<Row>] = [
            Column("Version", isName: true) { .text($0.names[1]) },
            Column("Platform", isName: true) { .text($0.names[2]) },
            Column("Checks") { .figure(NumberText.share(Double($0.checks), of: Double(impact.checks))) },
            share("Now") { $0.now.messages }, share("At 100 %") { $0.all.messages },
        ]
        let lockouts: [Column<Row>] =
            rule.lockout ? [share("Locked out") { $0.all.lockouts }, share("No update") { $0.all.withoutWayOut }] : []
        // Sums of parts are not exact.
        let bars = [
            bar(isHigh: true) { $0.all.lockouts },
            bar { $0.all.messages - $0.all.lockouts > 1e-9 ? $0.all.messages - $0.all.lockouts : 0 },
        ]
        return Table(ifEmpty: "", rows, columns: app + reach + lockouts + bars)
    }

    private static func members(
        _ rule: Rule,
        _ recent: RecentChecks,
        _ impact: RuleImpact,
        _ preReleases: [PreReleaseMatch],
        _ unreadable: [UnreadableVersions]
    ) -> [Field] {
        func stages(_ reach: [RuleImpact.Reach], _ checks: Int64) -> [JSONValue] {
            let whole = max(1, Double(checks))
            return zip(impact.stages, reach).map { stage, reach in
                [
                    "stage": stage.kind.rawValue, "at": stage.at, "rollout": stage.rollout,
                    "reached": reach.messages, "reached_share": reach.messages / whole,
                    "locked_out": reach.lockouts, "locked_out_share": reach.lockouts / whole,
                    "without_way_out": reach.withoutWayOut, "without_way_out_share": reach.withoutWayOut / whole,
                ]
            }
        }
        let rows = impact.rows.map { row -> JSONValue in
            [
                "bundle": row.group.bundle, "platform": row.group.platform, "version": row.group.version?.text,
                "checks": row.checks, "stages": stages(row.reach, row.checks),
            ]
        }
        return Field.members([
            "rule": rule.key, "bundle": rule.bundle, "enabled": rule.enabled, "days": recent.days,
            "checks": impact.checks, "not_known": recent.unknown,
            "merged": recent.merged.reduce(0) { $0 + $1.checks },
            "uncounted": impact.uncounted.map(\.rawValue).sorted(), "stages": stages(impact.total, impact.checks),
            "rows": rows, "pre_releases": preReleases.map(\.json),
            "unreadable_versions": unreadable.map(\.json),
        ])
    }
}

extension ClientGroup {
    package var words: [String] { [version?.text ?? "(unknown)", platform ?? "(unknown)"] }
}

extension PreReleaseMatch {
    var json: JSONValue { ["version": version.text, "release": release, "checks": checks] }
}

extension UnreadableVersions {
    var json: JSONValue {
        let examples = examples.map { example -> JSONValue in ["version": example.version, "checks": example.checks] }
        return [
            "bundle": bundle, "checks": checks, "share": Double(checks) / Double(max(1, allChecks)),
            "examples": examples,
        ]
    }
}
