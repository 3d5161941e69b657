import PolicyStore
import UpdatePolicy

extension EditImpact {
    /// The most versions that are shown one by one.
    static let mostRows = 10

    /// The impact for people, without a line break at its end: a line where only messages change, a table where
    /// somebody may be locked out.
    func text(on terminal: Terminal) -> String {
        guard !recent.isEmpty else {
            return recent.isKnown
                ? "Impact: not known; no checks were counted in the last \(recent.days) days."
                : "Impact: not known; the counts of checks could not be read."
        }
        let whole = Double(impact.checks)
        let now = impact.now
        guard !lockouts.isEmpty || impact.newLockouts > 0 || now.lockoutsBefore != now.lockoutsAfter else {
            let words = (laterLines + CountCaveats.tooFew(impact.checks) + CountCaveats.notCounted(impact.uncounted))
                .map { " " + $0 }.joined()
            return terminal.paragraphs(
                "Impact: up to \(NumberText.share(now.messagesAfter, of: whole))"
                    + (whole < NumberText.fewestJudged ? "" : " of \(NumberText.count(impact.checks))")
                    + " recent checks get a message; before this edit up to \(NumberText.share(now.messagesBefore, of: whole))."
                    + words
            )
        }
        let days = recent.days == 1 ? "day" : "\(recent.days) days"
        let checks = impact.checks == 1 ? "the 1 check" : "the \(NumberText.count(impact.checks)) checks"
        let heading = "Impact on \(checks) of the last \(days), now and right after this edit:"
        var parts = [terminal.paragraphs(heading), summary(terminal)]
        parts += laterLines.map { terminal.paragraphs($0) }
        if impact.newLockouts > 0 { parts.append("\n" + versions(terminal)) }
        let notes = self.notes
        if !notes.isEmpty { parts.append("\n" + notes.map { terminal.paragraphs($0) }.joined(separator: "\n")) }
        return parts.joined(separator: "\n")
    }

    /// The figures: what each says, its value before the edit and its value after it.
    var figures: [(name: String, before: String, after: String)] {
        let whole = Double(impact.checks)
        let now = impact.now
        func share(_ part: Double) -> String { NumberText.share(part, of: whole) }
        return [
            ("with a message", share(now.messagesBefore), share(now.messagesAfter)),
            ("locked out", share(now.lockoutsBefore), share(now.lockoutsAfter)),
            ("newly locked out", "", share(now.newLockouts)),
            ("spared (cannot update)", "", share(now.withoutWayOut)),
        ]
    }

    /// What the edit brings later, a line for messages and one for lockouts.
    var laterLines: [String] {
        let whole = Double(impact.checks)
        func line(_ steps: [ImpactStep], _ what: String) -> String? {
            guard let most = steps.last else { return nil }
            let more = steps.count - 1
            return "Later, by this edit: up to \(NumberText.share(most.checks, of: whole)) \(what)\(Self.when(most))"
                + (more > 0 ? ", in \(steps.count) steps from \(TimeText.local(steps[0].at)) on." : ".")
        }
        return [
            line(impact.laterLockouts, "newly locked out")
                ?? line(impact.laterMessages, "more with a message")
        ].compactMap(\.self)
    }

    /// What is to be known of the figures.
    var notes: [String] {
        var notes: [String] = []
        let withoutWayOut = impact.now.withoutWayOut
        if withoutWayOut > 0 {
            notes.append(
                "Up to \(NumberText.share(withoutWayOut, of: Double(impact.checks))) of the checks get the message of a lockout"
                    + " and are not locked out, because there is no update that they can install."
            )
        }
        if !impact.leftOut.isEmpty {
            let conditions = impact.leftOut.map(\.rawValue).sorted().joined(separator: " or ")
            notes.append("Rules with \(conditions) that this edit leaves alone are in none of these figures.")
        }
        if let fuseProposal { notes.append(fuseProposal) }
        return notes + CountCaveats.lines(uncounted: impact.uncounted, recent: recent)
            + CountCaveats.warnings(preReleases)
    }

    private func summary(_ terminal: Terminal) -> String {
        var table = TextTable("", "BEFORE", "AFTER")
        for figure in figures { table.add(figure.name, figure.before, figure.after) }
        return table.text(for: terminal)
    }

    /// The rows of those who are newly locked out, now or later, the most of them first.
    var lockedOutRows: [PolicyImpact.Row] {
        impact.rows.filter { $0.newLockouts > 0 }.sorted { $0.newLockouts > $1.newLockouts }
    }

    private func versions(_ terminal: Terminal) -> String {
        let rows = lockedOutRows
        let apps = Set(impact.rows.map(\.group.bundle)).count > 1
        let whole = Double(impact.checks)
        let hasLater = !impact.laterLockouts.isEmpty
        var table = TextTable(
            header: (apps ? ["APP"] : []) + ["VERSION", "PLATFORM", "CHECKS", "NEWLY LOCKED OUT"]
                + (hasLater ? ["OR LATER"] : []),
            named: apps ? 3 : 2
        )
        let shown = rows.prefix(Self.mostRows)
        for row in shown {
            let part = row.checks > 0 ? row.newLockouts / Double(row.checks) : 0
            let cells =
                (apps ? [row.group.bundle] : []) + [
                    row.group.versionText, row.group.platformText, NumberText.share(Double(row.checks), of: whole),
                    NumberText.share(row.now.newLockouts, of: Double(row.checks)),
                ] + (hasLater ? [NumberText.share(row.newLockouts, of: Double(row.checks))] : [])
            table.add(cells: cells, bar: Bar([(part, "!", .red)]))
        }
        let more = rows.count - shown.count
        return table.text(for: terminal) + (more > 0 ? "\nand \(more) more" : "")
    }
}
