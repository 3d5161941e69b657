import PolicyStore
import UpdatePolicy

/// Writes the rows of a change, those of one that was made or of one that is planned.
struct ChangeText {
    let terminal: Terminal
    /// Whether it is planned: each row and what it has is marked with a sign, as in a diff.
    var isPlan = false
    /// Whether the values before and after stand on lines of their own, as in a diff.
    var splitsColumns = false
    /// Whether an added row has its columns with their defaults as well.
    var isWhole = false
    var audiences: [String: String] = [:]

    func lines(_ row: PolicyChange.Row) -> [String] {
        let (sign, verb, style): (String, String, TextStyle) =
            switch row.kind {
            case .added: ("+", "Added", .green)
            case .changed: ("~", "Changed", .yellow)
            case .removed: ("-", "Removed", .red)
            }
        let audience = row.table == PolicyTable.rules.rawValue ? audiences[row.key].map { " (\($0.visible()))" } : nil
        let title = "\(isPlan ? sign : verb) \(ChangeFormatter.name(row).local)\(audience ?? "")"
        let columns = isWhole || row.kind == .changed ? row.columns : ChangeFormatter.changedFromDefault(row)
        return [terminal.styled(terminal.paragraphs(title, indentation: "  "), style)]
            + columns.flatMap { column -> [String] in
                switch (row.kind, isPlan) {
                case (.changed, _): change(column, in: row.table)
                case (.removed, true) where column.before != nil:
                    marked("-", "\(column.name): \(value(column.before, column, row.table))", .red)
                case (.added, true) where column.after != nil:
                    marked("+", "\(column.name): \(value(column.after, column, row.table))", .green)
                case (.added, false) where column.after != nil:
                    [terminal.paragraphs("  \(column.name): \(value(column.after, column, row.table).visible())")]
                default: []
                }
            }
    }

    private func value(_ value: String?, _ column: PolicyChange.Column, _ table: String) -> String {
        ChangeFormatter.value(value, of: column.name, in: table).local
    }

    /// A column on one line, or the lines before and after where there are several.
    private func change(_ column: PolicyChange.Column, in table: String) -> [String] {
        let blanks = String(repeating: " ", count: isPlan ? 4 : 2)
        let texts = [column.before, column.after]
        guard splitsColumns || isPlan && texts.contains(where: { $0?.contains("\n") == true }) else {
            var shown = texts.map { value($0, column, table).visible() }
            // What differs in parts of a second alone is shown as it is stored.
            if shown[0] == shown[1] { shown = texts.map { $0 ?? "" } }
            let (before, after) = (terminal.styled(shown[0], .red), terminal.styled(shown[1], .green))
            return [terminal.paragraphs("\(blanks)\(column.name): \(before) -> \(after)", indentation: blanks + "  ")]
        }
        return ["\(blanks)\(column.name):"] + marked("-", column.before, .red) + marked("+", column.after, .green)
    }

    private func marked(_ sign: String, _ text: String?, _ style: TextStyle) -> [String] {
        (text ?? "(none)").split(separator: "\n", omittingEmptySubsequences: false).map {
            terminal.styled(terminal.paragraphs("    \(sign) \(String($0).visible())", indentation: "      "), style)
        }
    }

    /// What an edit changed, if anything, and how to undo it.
    static func report(_ change: PolicyChange?, database: String) -> String {
        let (terminal, database) = (Terminal.standardOutput, database.visible())
        guard let change else { return "Nothing changed on \(database): the policy was already like that." }
        let mostRows = 20
        let more = change.rows.count - mostRows
        let rest = [
            "and \(NumberText.count(Int64(more))) more. In all: \(ChangeFormatter.summary(change).local).",
            "To see every row: \(PrintedCommand("history \(change.id) --details"))",
        ]
        let ending = [
            "Edited \(database).",
            "This is change \(change.id). To undo it: \(PrintedCommand("undo \(change.id)"))",
        ]
        let rows = change.rows.prefix(mostRows).flatMap(ChangeText(terminal: terminal).lines)
        let sentences = ((more > 0 ? rest : []) + ending).map { terminal.paragraphs($0, indentation: "    ") }
        return (rows + sentences).joined(separator: "\n")
    }

    /// A change in one line: its id, when, who, with what, what it did and why.
    static func line(_ change: PolicyChange, hasSummary: Bool = true, on terminal: Terminal = .standardOutput) -> String
    {
        let parts: [String?] = [
            terminal.styled("\(change.id)", .bold), TimeText.local(change.at), change.author.visible(),
            change.tool?.visible(), change.undoes.map { "undoes \($0)" },
            hasSummary ? ChangeFormatter.summary(change).local : nil,
            change.why.map { hasSummary ? "(\($0.visible()))" : $0.visible() },
        ]
        return parts.compactMap(\.self).joined(separator: "  ")
    }
}
