import PolicyStore
import Reports
import UpdatePolicy

/// What an edit would change: that of a policy file, or of a command that is only tried.
struct PlanReport {
    /// The state of the policy that the edit starts from; nil where another edit came between.
    let revision: Int64?
    private let change: PolicyChange?
    private let impact: EditImpact?
    /// What is said to people where there are no differences.
    let unchanged: String
    /// What is said to people at the end where there are some: how they are made, or that nothing was.
    let ending: Sentence
    private let audiences: [String: String]
    var warnings: [String] = []
    var takenBack = TakenBack(changes: [])
    private let terminal = Terminal.standardOutput

    /// - Parameter rules: Those before and after, by which clients are named; of one that is both, as it is after.
    init(_ edit: DryRun?, rules: [Rule], revision: Int64?, unchanged: String, ending: Sentence) throws {
        (change, impact) = (edit?.change, try edit?.reach.map { try EditImpact(of: $0) })
        (self.revision, self.unchanged, self.ending) = (revision, unchanged, ending)
        audiences = Dictionary(rules.map { ($0.key, $0.who) }) { $1 }
    }

    var text: String {
        guard let change else { return unchanged }
        let rows = ChangeText(terminal: terminal, isPlan: true, audiences: audiences)
        let parts = [
            "", "\(counts(change)). Planned\(atRevision).", impact?.report.text(on: terminal),
            impact?.approvalReason.map { terminal.paragraphs("Needs approval: \($0).") }, takenBack.text,
            terminal.paragraphs(ending.local),
        ]
        return (change.rows.flatMap(rows.lines) + parts.compactMap(\.self)).joined(separator: "\n")
    }

    private var atRevision: String { revision.map { " at revision \($0)" } ?? "" }

    private func counts(_ change: PolicyChange) -> String {
        [("add", PolicyChange.Kind.added), ("change", .changed), ("remove", .removed)]
            .map { verb, kind in "\(change.rows.count { $0.kind == kind }) to \(verb)" }
            .joined(separator: ", ")
    }

    var json: JSONValue {
        let differences = (change?.rows ?? []).map { row -> JSONValue in
            let columns = row.columns.filter { $0.name != "id" && $0.before != $0.after }.map { column -> JSONValue in
                ["name": column.name, "before": column.before, "after": column.after]
            }
            return ["kind": row.kind.rawValue, "table": row.table, "key": row.key, "columns": columns]
        }
        let impact = impact.map { impact -> JSONValue in
            [
                "checks": impact.impact.checks, "new_lockouts": impact.impact.newLockouts,
                "approval": impact.approvalReason,
            ]
        }
        return ["revision": revision, "differences": differences, "impact": impact, "takes_back": takenBack.json]
    }

    /// Whatever comes from the policy, from clients or from the database stands in code, where it is neither markup nor a
    /// link nor mentions anybody.
    func markdown(database: String) -> String {
        let title = "### versiongate plan: "
        guard let change else {
            return "\(title)no differences\n\nThe policy\(atRevision) of \(Report.code(database)) matches the file."
        }
        func list(_ title: String, _ items: [String]) -> String? {
            items.isEmpty ? nil : "**\(title)**\n\n" + items.map { "- \(Report.code($0))" }.joined(separator: "\n")
        }
        let command = ending.segments.compactMap { if case .command(let command) = $0 { command } else { nil } }.first
        let parts = [
            title + counts(change), "On \(Report.code(database))\(atRevision).",
            impact?.approvalReason.map { "**Needs approval:** \(Report.code($0))" }, list("Warnings", warnings),
            list("Takes back", takenBack.lines(takenBack.changes).map { String($0.dropFirst(2)) }),
            impact.map { "**Impact**\n\n" + $0.report.markdown(time: TimeText.local) },
            "**Differences**\n\n" + differences(change), command.map { "To apply exactly this: \(Report.code($0))" },
        ]
        return parts.compactMap(\.self).joined(separator: "\n\n")
    }

    private func differences(_ change: PolicyChange) -> String {
        let rows = ChangeText(terminal: .file, isPlan: true, splitsColumns: true, audiences: audiences)
        let lines = change.rows.flatMap(rows.lines).map(Self.diffLine)
        var taken = 0
        let shown = lines.prefix { line in
            taken += line.count + 1
            // A comment of GitHub has at most 65,536.
            return taken <= 40_000
        }
        let more = lines.count - shown.count
        return Report.fenced(Array(shown), language: "diff")
            + (more > 0 ? "\n\nand \(more) more lines, which `\(PrintedCommand("plan FILE"))` shows" : "")
    }

    /// A line with the sign that colours it in its first column.
    private static func diffLine(_ line: String) -> String {
        let text = line.drop { $0 == " " }
        guard line.first == " ", let sign = text.first, sign == "+" || sign == "-", text.dropFirst().first == " " else {
            return line.first == "~" ? "!" + line.dropFirst() : line
        }
        return "\(sign)  \(line.prefix(line.count - text.count))\(text.dropFirst(2))"
    }
}
