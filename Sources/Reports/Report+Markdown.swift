import PolicyStore
package import UpdatePolicy

/// For reviews of code, where others render it, in GitHub Flavored Markdown.
///
/// Whatever may come from the policy, from clients or from the database stands in code, where it is neither markup nor a link
/// nor mentions anybody.
extension Report {
    /// Its sentences and tables, and below them the notes.
    package func markdown(time: (Timestamp) -> String) -> String {
        func text(_ sentence: Sentence) -> String { sentence.text(at: now, time: time).visible() }
        let notes = parts.compactMap { part -> String? in
            guard case .note(let note) = part else { return nil }
            return (note.kind == .warning ? "Warning: " : "") + text(note.text)
        }
        let blocks = parts.compactMap { part -> String? in
            switch part {
            case .text(let sentence): Self.code(text(sentence))
            case .table(let table):
                [table.caption.map { Self.code(text($0)) }, Self.markdown(table, text)].compactMap(\.self)
                    .joined(separator: "\n\n")
            default: nil
            }
        }
        return (blocks + (notes.isEmpty ? [] : [Self.fenced(notes, language: "text")])).joined(separator: "\n\n")
    }

    /// A bar within a cell is escaped, which counts in code as well.
    private static func markdown(_ table: Table, _ text: (Sentence) -> String) -> String {
        let shown = table.shownColumns(text: text)
        let lines = [
            shown.map { table.columns[$0].title ?? "" }, shown.map { table.columns[$0].isName ? "---" : "---:" },
        ]
        let rows = (table.rows ?? []).map { row in
            shown.map { column in
                let cell = row[column]
                return cell.sentence.map { cell.isFigure ? text($0) : code(text($0)) } ?? ""
            }
        }
        return (lines + rows).map { cells in
            "| \(cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |"
        }.joined(separator: "\n")
    }

    /// A span of code on one line. The blanks at both ends are not shown.
    package static func code(_ text: String) -> String {
        let text = text.visible()
        guard !text.isEmpty else { return "` `" }
        let fence = String(repeating: "`", count: longestRun(in: text) + 1)
        return "\(fence) \(text) \(fence)"
    }

    /// Lines as a block of code.
    package static func fenced(_ lines: [String], language: String) -> String {
        let fence = String(repeating: "`", count: max(3, (lines.map(longestRun).max() ?? 0) + 1))
        return "\(fence)\(language)\n\(lines.joined(separator: "\n"))\n\(fence)"
    }

    /// The length of the longest run of backquotes, which a fence exceeds.
    private static func longestRun(in text: String) -> Int { text.split { $0 != "`" }.map(\.count).max() ?? 0 }
}
