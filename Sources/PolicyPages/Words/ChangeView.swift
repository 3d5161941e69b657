import PolicyStore
import UpdatePolicy

extension PageScene {
    /// A change, for the template `change`.
    func change(_ change: PolicyChange) -> JSONValue {
        let missing = change.rowCount - change.rows.count
        return [
            "id": change.id, "at": time(change.at),
            "who": change.osUser.map { "\(change.role) (\($0))" } ?? change.role, "tool": change.tool,
            "why": change.why, "undoes": change.undoes, "summary": Self.summary(change),
            // What an undo takes back.
            "what": change.rowCount == 1 ? "it" : "all \(change.rowCount) rows of it",
            "undo": PrintedCommand.text("undo \(change.id)"), "rows": change.rows.map(Self.row),
            "moreRows": missing > 0 ? "\(missing) more rows: \(PrintedCommand("history \(change.id) --details"))" : "",
        ]
    }

    /// The most characters of a value that stands in the title of a change.
    private static let longestValue = 30

    /// What it did, with the values before and after where one column of one row has short ones.
    private static func summary(_ change: PolicyChange) -> String {
        let summary = words.summary(change)
        guard change.rowCount == 1, let row = change.rows.first, row.kind == .changed, row.columns.count == 1 else {
            return summary
        }
        let column = row.columns[0]
        let values = [column.before, column.after].map { words.value($0, of: column.name, in: row.table) }
        guard values.allSatisfy({ $0.count <= longestValue }) else { return summary }
        return "\(summary) \(values.joined(separator: " -> "))"
    }

    /// An added or removed row has the columns that are not as they are by default.
    private static func row(_ row: PolicyChange.Row) -> JSONValue {
        let columns = (row.kind == .changed ? row.columns : ChangeWords.changedFromDefault(row)).map {
            column -> JSONValue in
            [
                "name": column.name, "before": words.value(column.before, of: column.name, in: row.table),
                "after": words.value(column.after, of: column.name, in: row.table), "hasBefore": row.kind != .added,
                "hasAfter": row.kind != .removed,
            ]
        }
        return ["name": words.name(row), "kind": row.kind.rawValue, "columns": columns]
    }
}
