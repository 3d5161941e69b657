import PolicyStore
import UpdatePolicy

/// Reports what an edit changed and how to undo it.
struct ChangeReport: Sendable {
    let change: PolicyChange?
    /// The name of the database in messages.
    let database: String

    /// The report, without a line break at its end.
    var text: String {
        guard let change else {
            return "Nothing changed on \(database.visible()): the policy was like that already."
        }
        var lines = change.rows.prefix(Self.mostRows).flatMap { Self.lines(for: $0) }
        if change.rows.count > Self.mostRows {
            lines.append(
                "and \(NumberText.count(Int64(change.rows.count - Self.mostRows))) more. In all: \(ChangeWords.local.summary(change))."
            )
            lines.append("To see every row: \(PrintedCommand("history \(change.id) --details"))")
        }
        lines.append("Edited \(database.visible()).")
        lines.append("This is change \(change.id). To take it back: \(PrintedCommand("undo \(change.id)"))")
        return Terminal.standardOutput.paragraphs(lines.joined(separator: "\n"), indentation: "    ")
    }

    /// How many rows are shown one by one.
    private static let mostRows = 20

    /// A row with its columns; of one that was added, those that differ from their defaults.
    ///
    /// - Parameter isWhole: Whether an added row has its other columns as well.
    static func lines(for row: PolicyChange.Row, isWhole: Bool = false) -> [String] {
        let terminal = Terminal.standardOutput
        let name = ChangeWords.local.name(row)
        func value(_ column: PolicyChange.Column, _ value: String?) -> String {
            ChangeWords.local.value(value, of: column.name, in: row.table).visible()
        }
        switch row.kind {
        case .added:
            let columns = (isWhole ? row.columns : ChangeWords.changedFromDefault(row)).filter { $0.after != nil }
            return [terminal.styled("Added \(name)", .green)] + columns.map { "  \($0.name): \(value($0, $0.after))" }
        case .changed:
            return [terminal.styled("Changed \(name)", .yellow)]
                + row.columns.map { column in
                    let (before, after) = (value(column, column.before), value(column, column.after))
                    // What differs in parts of a second alone is shown as it is stored.
                    return before == after
                        ? "  \(column.name): \(column.before ?? "") -> \(column.after ?? "")"
                        : "  \(column.name): \(before) -> \(after)"
                }
        case .removed:
            return [terminal.styled("Removed \(name)", .red)]
        }
    }
}
