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
    /// The clients that rules are for, by key.
    var audiences: [String: String] = [:]

    /// A row with its columns.
    func lines(_ row: PolicyChange.Row) -> [String] {
        let (sign, verb, style): (String, String, TextStyle) =
            switch row.kind {
            case .added: ("+", "Added", .green)
            case .changed: ("~", "Changed", .yellow)
            case .removed: ("-", "Removed", .red)
            }
        let audience = row.table == PolicyTable.rules.rawValue ? audiences[row.key].map { " (\($0.visible()))" } : nil
        let title = "\(isPlan ? sign : verb) \(ChangeWords.local.name(row))\(audience ?? "")"
        let columns = isWhole || row.kind == .changed ? row.columns : ChangeWords.changedFromDefault(row)
        return [terminal.styled(terminal.paragraphs(title, indentation: "  "), style)]
            + columns.flatMap { column -> [String] in
                switch (row.kind, isPlan) {
                case (.changed, _): change(column, in: row.table)
                case (.removed, _) where !isPlan || column.before == nil: []
                case (.removed, _): marked("-", "\(column.name): \(value(column.before, column, row.table))", .red)
                case (.added, _) where column.after == nil: []
                case (.added, true): marked("+", "\(column.name): \(value(column.after, column, row.table))", .green)
                case (.added, false):
                    [terminal.paragraphs("  \(column.name): \(value(column.after, column, row.table).visible())")]
                }
            }
    }

    private func value(_ value: String?, _ column: PolicyChange.Column, _ table: String) -> String {
        ChangeWords.local.value(value, of: column.name, in: table)
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
}

extension ChangeText {
    /// How many rows of a change that was made are shown one by one.
    private static let mostRows = 20

    /// What an edit changed, and how to undo it.
    ///
    /// - Parameters:
    ///   - change: Nil: nothing.
    ///   - database: Its name in messages.
    static func report(_ change: PolicyChange?, database: String) -> String {
        let (terminal, database) = (Terminal.standardOutput, database.visible())
        guard let change else { return "Nothing changed on \(database): the policy was like that already." }
        let more = change.rows.count - mostRows
        let rest = [
            "and \(NumberText.count(Int64(more))) more. In all: \(ChangeWords.local.summary(change)).",
            "To see every row: \(PrintedCommand("history \(change.id) --details"))",
        ]
        let ending = [
            "Edited \(database).",
            "This is change \(change.id). To take it back: \(PrintedCommand("undo \(change.id)"))",
        ]
        return
            (change.rows.prefix(mostRows).flatMap(ChangeText(terminal: terminal).lines)
            + ((more > 0 ? rest : []) + ending).map { terminal.paragraphs($0, indentation: "    ") })
            .joined(separator: "\n")
    }

    /// A change in one line: its id, when, who, with what, what it did and why.
    ///
    /// - Parameter hasSummary: Whether it says what it did.
    static func line(
        _ change: PolicyChange,
        hasSummary: Bool = true,
        on terminal: Terminal = .standardOutput
    ) -> String {
        let parts: [String?] = [
            terminal.styled("\(change.id)", .bold), TimeText.local(change.at), change.author.visible(),
            change.tool?.visible(), change.undoes.map { "undoes \($0)" },
            hasSummary ? ChangeWords.local.summary(change) : nil,
            change.why.map { hasSummary ? "(\($0.visible()))" : $0.visible() },
        ]
        return parts.compactMap(\.self).joined(separator: "  ")
    }
}

extension ChangeWords {
    /// With times in the local time zone.
    static let local = ChangeWords { TimeText.local($0) }
}
