import PolicyStore
import Reports
import UpdatePolicy

extension EditImpact {
    /// The most versions that are shown one by one.
    private static let mostVersions = 10

    /// A sentence where only messages change, tables where somebody may be locked out.
    var report: Report {
        guard !recent.isEmpty else {
            let reason: Sentence =
                recent.isKnown
                ? "no checks were counted in the last \(recent.days) days" : "the counts of checks could not be read"
            return Report(at: time, [.text("Impact: not known; \(reason).")])
        }
        let now = impact.now
        guard !lockouts.isEmpty || impact.newLockouts > 0 || now.lockoutsBefore != now.lockoutsAfter else {
            let whole = Double(impact.checks) < NumberText.fewestJudged ? "" : "of \(NumberText.count(impact.checks)) "
            return Report(
                at: time,
                [
                    .text(
                        "Impact: up to \(share(now.messagesAfter)) \(whole)recent checks get a message; before this edit up to \(share(now.messagesBefore))."
                    )
                ] + later + CountNotes.tooFew(impact.checks) + CountNotes.notCounted(impact.uncounted)
            )
        }
        let rows = impact.rows.filter { $0.newLockouts > 0 }.sorted { $0.newLockouts > $1.newLockouts }
        return Report(at: time, [.table(figures)] + later + versions(rows) + notes)
    }

    private func share(_ part: Double) -> String { NumberText.share(part, of: Double(impact.checks)) }

    private var figures: Table {
        let now = impact.now
        let days = recent.days == 1 ? "day" : "\(recent.days) days"
        let checks = impact.checks == 1 ? "the 1 check" : "the \(NumberText.count(impact.checks)) checks"
        return Table(
            caption: "Impact on \(checks) of the last \(days), now and right after this edit:", ifEmpty: "",
            [
                ("with a message", share(now.messagesBefore), share(now.messagesAfter)),
                ("locked out", share(now.lockoutsBefore), share(now.lockoutsAfter)),
                ("newly locked out", "", share(now.newLockouts)),
                ("not locked out: no update available", "", share(now.withoutWayOut)),
            ],
            columns: [
                Column("", isName: true) { .text($0.0) }, Column("Before") { .figure($0.1) },
                Column("After") { .figure($0.2) },
            ]
        )
    }

    /// What the edit brings later: a line for lockouts, else for messages.
    private var later: [Report.Part] {
        func note(_ steps: [ImpactStep], _ what: String) -> Report.Part? {
            guard let most = steps.last else { return nil }
            let rules = most.rules.isEmpty ? "" : " by \(most.rules.joined(separator: " and "))"
            let end: Sentence = steps.count > 1 ? ", in \(steps.count) steps from \(time: steps[0].at) on." : "."
            return .hint("Later, by this edit: up to \(share(most.checks)) \(what) from \(time: most.at)\(rules)\(end)")
        }
        let note = note(impact.laterLockouts, "newly locked out") ?? note(impact.laterMessages, "more with a message")
        return [note].compactMap(\.self)
    }

    private func versions(_ rows: [PolicyImpact.Row]) -> [Report.Part] {
        guard impact.newLockouts > 0 else { return [] }
        typealias Row = PolicyImpact.Row
        func share(_ title: String, _ part: @escaping @Sendable (Row) -> Double) -> Column<Row> {
            Column(title) { .figure(NumberText.share(part($0), of: Double($0.checks))) }
        }
        let isOfOneApp = Set(impact.rows.map(\.group.bundle)).count < 2
        let app: [Column<Row>] =
            isOfOneApp ? [] : [Column("App", isName: true) { .text($0.group.bundle) }]
        let columns: [Column<Row>] = [
            Column("Version", isName: true) { .text($0.group.words[0]) },
            Column("Platform", isName: true) { .text($0.group.words[1]) },
            Column("Checks") { .figure(self.share(Double($0.checks))) },
            share("Newly locked out") { $0.now.newLockouts },
        ]
        let later = impact.laterLockouts.isEmpty ? [] : [share("Or later") { $0.newLockouts }]
        let bar: Column<Row> = Column("") {
            .bar($0.checks > 0 ? $0.newLockouts / Double($0.checks) : 0, isHigh: true)
        }
        let table = Table(
            ifEmpty: "", Array(rows.prefix(Self.mostVersions)), columns: app + columns + later + [bar]
        )
        let more = rows.count - Self.mostVersions
        return [.table(table)] + (more > 0 ? [.hint("and \(more) more")] : [])
    }

    /// What is to be known of the figures.
    private var notes: [Report.Part] {
        var notes: [Sentence] = []
        if impact.now.withoutWayOut > 0 {
            notes.append(
                "Up to \(share(impact.now.withoutWayOut)) of the checks get the message of a lockout but are not locked out, because there is no update that they can install."
            )
        }
        if !impact.leftOut.isEmpty {
            let conditions = impact.leftOut.map(\.rawValue).sorted().joined(separator: " or ")
            notes.append("Rules with \(conditions) that this edit leaves alone are in none of these figures.")
        }
        if let fuseProposal { notes.append(fuseProposal) }
        return notes.map { .hint($0) } + CountNotes.all(uncounted: impact.uncounted, recent: recent)
            + CountNotes.warnings(preReleases)
    }
}
