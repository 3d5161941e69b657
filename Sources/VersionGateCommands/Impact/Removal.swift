import PolicyStore
import UpdatePolicy

/// The rows that an edit removes or withdraws, as the question for approval shows them.
struct Removal {
    private let rows: [PolicyChange.Row]
    private let isWithdrawal: Bool

    /// How many rows are shown one by one.
    private static let mostRows = 20

    /// Finds what a change removes, or else withdraws; nil if nothing.
    init?(_ change: PolicyChange) {
        let removed = change.rows.filter { $0.kind == .removed }
        let withdrawn = change.rows.filter { row in
            row.table == PolicyTable.releases.rawValue
                && row.columns.contains { $0.name == "withdrawn_at" && $0.after != nil }
        }
        isWithdrawal = removed.isEmpty
        rows = removed.isEmpty ? withdrawn : removed
        if rows.isEmpty { return nil }
    }

    /// Why approval is needed.
    var reason: String { "this \(isWithdrawal ? "withdraws" : "removes") \(summary)" }

    /// The rows, the lockouts in force first, without a line break at its end.
    func text(database: String) -> String {
        let ordered = rows.filter(Self.isActiveLockout) + rows.filter { !Self.isActiveLockout($0) }
        let lines = ordered.prefix(Self.mostRows).map { row in
            "  \(ChangeWords.local.name(row))\(Self.state(row))"
        }
        let more = rows.count - lines.count
        let heading = isWithdrawal ? "Withdraws on \(database.visible()):" : "Removes from \(database.visible()):"
        return ([heading] + lines + (more > 0 ? ["  and \(more) more"] : [])).map {
            Terminal.standardOutput.paragraphs($0, indentation: "    ")
        }.joined(separator: "\n")
    }

    /// The rows by name or, where there are several, by count: `app a, 2 rules (1 is an enabled lockout)`.
    private var summary: String {
        var kinds: [(noun: String, rows: [PolicyChange.Row])] = []
        for row in rows {
            let noun = ChangeWords.noun(row.table)
            if let index = kinds.firstIndex(where: { $0.noun == noun }) {
                kinds[index].rows.append(row)
            } else {
                kinds.append((noun, [row]))
            }
        }
        return kinds.map { noun, rows in
            if rows.count == 1 { return "\(ChangeWords.local.name(rows[0]))\(Self.state(rows[0]))" }
            let lockouts = rows.count(where: Self.isActiveLockout)
            let text = "\(rows.count) \(noun)s"
            guard lockouts > 0 else { return text }
            return "\(text) (\(lockouts == 1 ? "1 is an enabled lockout" : "\(lockouts) are enabled lockouts"))"
        }.joined(separator: ", ")
    }

    private static func isActiveLockout(_ row: PolicyChange.Row) -> Bool {
        isTrue("enabled", in: row) && isTrue("lockout", in: row)
    }

    /// The state and the app of a rule; empty for other rows.
    private static func state(_ row: PolicyChange.Row) -> String {
        guard row.table == PolicyTable.rules.rawValue else { return "" }
        let state = isActiveLockout(row) ? "enabled lockout" : isTrue("enabled", in: row) ? "enabled" : "off"
        let bundle = row.columns.first { $0.name == "bundle" }?.before
        return " (\(state), \(bundle.map { "app \($0.visible())" } ?? "every app"))"
    }

    private static func isTrue(_ column: String, in row: PolicyChange.Row) -> Bool {
        row.columns.contains { $0.name == column && $0.before == "true" }
    }
}
