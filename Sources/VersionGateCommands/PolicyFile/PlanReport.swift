import PolicyStore
import UpdatePolicy

/// Shows what an edit would change: that of a policy file, or of a command that is only tried.
struct PlanReport {
    /// The state of the policy that the edit starts from; nil where another edit came between.
    let revision: Int64?
    let change: PolicyChange?
    var impact: EditImpact?
    /// The line for people where there are no differences.
    let unchanged: String
    /// The last line for people where there are some: how they are made, or that nothing was.
    let ending: String
    /// The clients that rules are for, by key.
    var audiences: [String: String] = [:]
    /// The warnings of the database.
    var warnings: [String] = []
    /// The changes that it would take back.
    var takenBack = TakenBack(changes: [])
    let terminal: Terminal
    /// Whether a column's value before and after stand on lines of their own, as in a diff.
    var splitsColumns = false

    /// For people, without a line break at its end.
    var text: String {
        guard let change else {
            return unchanged
        }
        var lines = change.rows.flatMap(lines)
        lines.append("")
        lines.append("\(Self.counts(change)). Planned\(atRevision).")
        if let impact { lines.append(impact.text(on: terminal)) }
        if let reason = impact?.approvalReason { lines.append(terminal.paragraphs("Needs approval: \(reason).")) }
        if let text = takenBack.text { lines.append(text) }
        lines.append(ending)
        return lines.joined(separator: "\n")
    }

    var atRevision: String { revision.map { " at revision \($0)" } ?? "" }

    /// The numbers of rows that are added, changed and removed.
    static func counts(_ change: PolicyChange) -> String {
        [("add", PolicyChange.Kind.added), ("change", .changed), ("remove", .removed)]
            .map { verb, kind in "\(change.rows.count { $0.kind == kind }) to \(verb)" }
            .joined(separator: ", ")
    }

    /// For programs.
    var json: JSONValue {
        let differences = (change?.rows ?? []).map(Self.difference)
        return [
            "revision": revision, "differences": differences, "impact": impact.map(Self.impact),
            "takes_back": takenBack.json,
        ]
    }

    private static func difference(_ row: PolicyChange.Row) -> JSONValue {
        let columns = row.columns.filter { $0.name != "id" && $0.before != $0.after }.map { column -> JSONValue in
            ["name": column.name, "before": column.before, "after": column.after]
        }
        return ["kind": row.kind.rawValue, "table": row.table, "key": row.key, "columns": columns]
    }

    private static func impact(_ impact: EditImpact) -> JSONValue {
        [
            "checks": impact.impact.checks, "new_lockouts": impact.impact.newLockouts,
            "approval": impact.approvalReason,
        ]
    }

    /// The clients that rules are for; of one that is before and after, as it is after.
    static func audiences(before: [Rule], after: [Rule]) -> [String: String] {
        Dictionary((before + after).map { ($0.key, $0.who) }) { $1 }
    }

    func lines(_ row: PolicyChange.Row) -> [String] {
        let audience = row.table == PolicyTable.rules.rawValue ? audiences[row.key] : nil
        let name = ChangeWords.local.name(row) + (audience.map { " (\($0.visible()))" } ?? "")
        let title = terminal.paragraphs("\(Self.sign(row.kind)) \(name)", indentation: "  ")
        switch row.kind {
        case .added:
            return [terminal.styled(title, .green)]
                + ChangeWords.changedFromDefault(row).flatMap { column in
                    column.after.map {
                        marked(
                            "+", "\(column.name): \(ChangeWords.local.value($0, of: column.name, in: row.table))",
                            .green
                        )
                    }
                        ?? []
                }
        case .removed:
            return [terminal.styled(title, .red)]
                + ChangeWords.changedFromDefault(row).flatMap { column in
                    column.before.map {
                        marked(
                            "-", "\(column.name): \(ChangeWords.local.value($0, of: column.name, in: row.table))", .red
                        )
                    }
                        ?? []
                }
        case .changed:
            return [terminal.styled(title, .yellow)] + row.columns.flatMap { change($0, in: row.table) }
        }
    }

    private static func sign(_ kind: PolicyChange.Kind) -> String {
        switch kind {
        case .added: "+"
        case .changed: "~"
        case .removed: "-"
        }
    }

    /// A column on one line, or the lines before and after where there are several.
    private func change(_ column: PolicyChange.Column, in table: String) -> [String] {
        let texts = [column.before, column.after]
        guard splitsColumns || texts.contains(where: { $0?.contains("\n") == true }) else {
            var shown = texts.map { ChangeWords.local.value($0, of: column.name, in: table).visible() }
            // What differs in parts of a second alone is shown as it is stored.
            if shown[0] == shown[1] { shown = texts.map { $0 ?? "" } }
            return ["    \(column.name): \(terminal.styled(shown[0], .red)) -> \(terminal.styled(shown[1], .green))"]
        }
        return ["    \(column.name):"] + marked("-", column.before, .red)
            + marked("+", column.after, .green)
    }

    private func marked(_ sign: String, _ text: String?, _ style: TextStyle) -> [String] {
        (text ?? "(none)").split(separator: "\n", omittingEmptySubsequences: false).map {
            terminal.styled(terminal.paragraphs("    \(sign) \(String($0).visible())", indentation: "      "), style)
        }
    }
}
