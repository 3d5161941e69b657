// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures
import PolicyStore
import UpdatePolicy

extension EditImpact {
    /// The most versions that are shown one by one.
    static let mostRows = 10

    /// The impact for people, without a line break at its end: a line where only messages change, a table where
    /// somebody may be locked out.
    func text(on terminal: Terminal) -> String {
        guard !recent.isEmpty else {
            return "Impact: not known; no checks were counted in the last \(recent.days) days."
        }
        let whole = Double(impact.checks)
        let ahead = impact.ahead
        let changesLockouts =
            impact.now.lockoutsBefore != impact.now.lockoutsAfter || ahead.lockoutsBefore != ahead.lockoutsAfter
        guard !lockouts.isEmpty || ahead.newLockouts > 0 || changesLockouts else {
            let words = CountCaveats.tooFew(impact.checks).map { " " + $0 }.joined()
            return terminal.paragraphs(
                "Impact: up to \(NumberText.share(ahead.messagesAfter, of: whole))"
                    + (whole < NumberText.fewestJudged ? "" : " of \(NumberText.count(impact.checks))")
                    + " recent checks get a message; before this edit up to \(NumberText.share(ahead.messagesBefore, of: whole))."
                    + words
            )
        }
        let days = recent.days == 1 ? "day" : "\(recent.days) days"
        var parts = [
            impact.checks == 1
                ? "Impact on the 1 check of the last \(days):"
                : "Impact on the \(NumberText.count(impact.checks)) checks of the last \(days):",
            summary(terminal),
        ]
        if ahead.newLockouts > 0 { parts.append("\n" + versions(terminal)) }
        var notes: [String] = []
        if ahead.withoutWayOut > 0 {
            notes.append(
                "Up to \(NumberText.share(ahead.withoutWayOut, of: whole)) of the checks get the message of a lockout and are"
                    + " not locked out, because there is no update that they can install."
            )
        }
        notes += CountCaveats.lines(uncounted: impact.uncounted, recent: recent) + CountCaveats.warnings(preReleases)
        if !notes.isEmpty { parts.append("\n" + notes.map { terminal.paragraphs($0) }.joined(separator: "\n")) }
        return parts.joined(separator: "\n")
    }

    private func summary(_ terminal: Terminal) -> String {
        let whole = Double(impact.checks)
        let now = impact.now
        let ahead = impact.ahead
        var table = TextTable("", "BEFORE", "AT ONCE", "AS PLANNED")
        func add(_ name: String, _ before: String, _ atOnce: Double, _ planned: Double) {
            table.add(name, before, NumberText.share(atOnce, of: whole), NumberText.share(planned, of: whole))
        }
        add(
            "with a message",
            NumberText.share(now.messagesBefore, of: whole),
            now.messagesAfter,
            ahead.messagesAfter
        )
        add("locked out", NumberText.share(now.lockoutsBefore, of: whole), now.lockoutsAfter, ahead.lockoutsAfter)
        add("newly locked out", "", now.newLockouts, ahead.newLockouts)
        add("not locked out: no update", "", now.withoutWayOut, ahead.withoutWayOut)
        return table.text(for: terminal)
    }

    private func versions(_ terminal: Terminal) -> String {
        let rows = impact.rows.filter { $0.ahead.newLockouts > 0 }.sorted {
            $0.ahead.newLockouts > $1.ahead.newLockouts
        }
        let apps = Set(impact.rows.map(\.group.bundle)).count > 1
        let whole = Double(impact.checks)
        var table = TextTable(
            header: (apps ? ["APP"] : []) + ["VERSION", "PLATFORM", "CHECKS", "NEWLY LOCKED OUT"],
            named: apps ? 3 : 2
        )
        let shown = rows.prefix(Self.mostRows)
        for row in shown {
            let part = row.checks > 0 ? row.ahead.newLockouts / Double(row.checks) : 0
            let cells =
                (apps ? [row.group.bundle] : []) + [
                    row.group.versionText, row.group.platformText, NumberText.share(Double(row.checks), of: whole),
                    NumberText.share(row.ahead.newLockouts, of: Double(row.checks)),
                ]
            table.add(cells: cells, bar: Bar([(part, "!", .red)]))
        }
        let more = rows.count - shown.count
        return table.text(for: terminal) + (more > 0 ? "\nand \(more) more" : "")
    }
}
