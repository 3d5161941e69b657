import PolicyStore
import UpdatePolicy

/// Shows the impact of a rule as tables with bars, and as JSON.
struct RuleImpactReport: Sendable {
    private let rule: Rule
    private let isPaused: Bool
    private let impact: RuleImpact
    private let recent: RecentChecks
    private let preReleases: [PreReleaseMatch]
    private let charts: [Chart]

    init(_ figures: RuleFigures) {
        rule = figures.rule
        recent = figures.recent
        impact = figures.impact
        isPaused = figures.isPaused
        preReleases = figures.preReleases
        charts = figures.charts
    }

    private var unreadable: [UnreadableVersions] { UnreadableVersions.byApp(among: recent.clients) }

    /// The most versions that are shown one by one.
    private static let mostRows = 25

    /// The report for people, without a line break at its end.
    func text(on terminal: Terminal) -> String {
        let charts = charts.map { ChartText($0, on: terminal).text }
        var parts = [terminal.paragraphs(headline)] + charts.prefix(1) + [rowTable(terminal)] + charts.dropFirst()
        var notes: [String] = []
        if impact.total.contains(where: { $0.withoutWayOut > 0 }) {
            notes.append("NO WAY OUT: they get the message and are not locked out, as there is no update for them.")
        }
        if isPaused { notes.append("The app is paused, so no rule reaches it.") }
        if let end = rule.endsAt, let now = impact.stages.first?.at, end <= now {
            notes.append("The rule ended at \(TimeText.local(end, from: now)), so it reaches nobody.")
        }
        notes += CountCaveats.lines(uncounted: impact.uncounted, recent: recent)
        notes += CountCaveats.warnings(preReleases) + CountCaveats.warnings(unreadable)
        parts.append(notes.map { terminal.paragraphs($0) }.joined(separator: "\n"))
        return parts.joined(separator: "\n\n")
    }

    private var headline: String {
        let app = rule.bundle ?? "every app"
        let period = "in the last \(recent.days) \(recent.days == 1 ? "day" : "days")"
        return
            "\(rule.key): \(NumberText.count(impact.checks)) \(impact.checks == 1 ? "check" : "checks") of \(app) \(period)"
    }

    private func rowTable(_ terminal: Terminal) -> String {
        let apps = Set(impact.rows.map(\.group.bundle)).count > 1
        let last = impact.stages.count - 1
        let rows = impact.rows.sorted { $0.checks > $1.checks }
        var table = TextTable(
            header: (apps ? ["APP"] : []) + ["VERSION", "PLATFORM", "CHECKS", "NOW", "AT 100 %"]
                + (rule.lockout ? ["LOCKED OUT", "NO WAY OUT"] : []),
            named: apps ? 3 : 2
        )
        for row in rows.prefix(Self.mostRows) {
            let names = (apps ? [row.group.bundle] : []) + [row.group.versionText, row.group.platformText]
            table.add(
                cells: cells(names, row.checks, now: row.reach[0], everybody: row.reach[last]),
                bar: Self.bar(row.reach[last], of: Double(row.checks))
            )
        }
        let others = rows.dropFirst(Self.mostRows)
        if !others.isEmpty {
            let checks = others.reduce(0) { $0 + $1.checks }
            let now = others.reduce(into: RuleImpact.Reach()) { $0 += $1.reach[0] }
            let everybody = others.reduce(into: RuleImpact.Reach()) { $0 += $1.reach[last] }
            let names = (apps ? ["others"] : []) + ["\(others.count) more", ""]
            table.add(
                cells: cells(names, checks, now: now, everybody: everybody),
                bar: Self.bar(everybody, of: Double(checks))
            )
        }
        return table.text(for: terminal)
    }

    private func cells(
        _ names: [String],
        _ checks: Int64,
        now: RuleImpact.Reach,
        everybody: RuleImpact.Reach
    ) -> [String] {
        let whole = Double(checks)
        return names + [
            NumberText.share(whole, of: Double(impact.checks)), NumberText.share(now.messages, of: whole),
            NumberText.share(everybody.messages, of: whole),
        ]
            + (rule.lockout
                ? [
                    NumberText.share(everybody.lockouts, of: whole),
                    NumberText.share(everybody.withoutWayOut, of: whole),
                ] : [])
    }

    /// A bar of the lockouts and of the other messages.
    private static func bar(_ reach: RuleImpact.Reach, of whole: Double) -> Bar {
        let lockouts = whole > 0 ? reach.lockouts / whole : 0
        let messages = whole > 0 ? reach.messages / whole - lockouts : 0
        return Bar([(lockouts, "!", .red), (messages > 1e-9 ? messages : 0, "#", .green)])
    }
}

extension RuleImpactReport {
    /// The report for programs: an object.
    var json: JSONValue {
        let rows = impact.rows.map { row -> JSONValue in
            [
                "bundle": row.group.bundle, "platform": row.group.platform, "version": row.group.version?.text,
                "checks": row.checks, "stages": stages(row.reach, row.checks),
            ]
        }
        return [
            "rule": rule.key, "bundle": rule.bundle, "enabled": rule.enabled, "days": recent.days,
            "checks": impact.checks, "not_known": recent.unknown,
            "merged": recent.merged.reduce(0) { $0 + $1.checks },
            "uncounted": impact.uncounted.map(\.rawValue).sorted(), "stages": stages(impact.total, impact.checks),
            "rows": rows, "pre_releases": preReleases.map(\.json), "unreadable_versions": unreadable.map(\.json),
        ]
    }

    private func stages(_ reach: [RuleImpact.Reach], _ checks: Int64) -> [JSONValue] {
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
}

extension ClientGroup {
    /// The version for people.
    var versionText: String { version?.text ?? "(unknown)" }

    /// The platform for people.
    var platformText: String { platform ?? "(unknown)" }
}

extension PreReleaseMatch {
    /// For programs: an object.
    var json: JSONValue { ["version": version.text, "release": release, "checks": checks] }
}

extension UnreadableVersions {
    /// For programs: an object.
    var json: JSONValue {
        let examples = examples.map { example -> JSONValue in ["version": example.version, "checks": example.checks] }
        return [
            "bundle": bundle, "checks": checks, "share": Double(checks) / Double(max(1, allChecks)),
            "examples": examples,
        ]
    }
}
