import ArgumentParser
import PolicyStore
import Reports
import UpdatePolicy

extension Report {
    func text(on terminal: Terminal = .standardOutput) -> String {
        var text = ""
        var last: Part?
        for part in parts {
            let block = block(part, terminal)
            if block.isEmpty { continue }
            switch (last, part) {
            case (nil, _): break
            // What belongs together has no blank line in between.
            case (.heading, _), (.note, .note): text += "\n"
            default: text += "\n\n"
            }
            text += block
            last = part
        }
        return text
    }

    private func block(_ part: Part, _ terminal: Terminal) -> String {
        switch part {
        case .heading(let title, _): terminal.styled(title, .bold)
        case .text(let sentence): terminal.paragraphs(text(sentence).visible())
        case .note(let note):
            terminal.paragraphs(
                (note.kind == .warning ? "Warning: " : note.kind == .fault ? "Error: " : "") + text(note.text).visible()
                    + (note.remedy.map { " \($0.visible())" } ?? ""),
                indentation: "  "
            )
        case .fields(let fields): block(fields, terminal)
        case .table(let table): block(table, terminal)
        case .chart(let chart): ChartText(chart: chart, terminal: terminal).text
        case .changes(let changes, let empty):
            changes.isEmpty ? empty : changes.map { ChangeText.line($0, on: terminal) }.joined(separator: "\n")
        case .edits(let edits):
            edits.map { terminal.paragraphs("\($0.what.visible()): \($0.command.visible())") }.joined(separator: "\n")
        }
    }

    /// A line for each field that has a value. Long values are broken at blanks; one with a word that has no room beside its
    /// title stands below it.
    private func block(_ fields: [Field], _ terminal: Terminal) -> String {
        let shown = fields.compactMap { field in
            field.title.flatMap { title in
                field.cell.sentence.map { (title: title, value: text($0).visible(keepsNewlines: true)) }
            }
        }
        let width = (shown.map(\.title.count).max() ?? 0) + 2
        let room = terminal.width.map { max($0 - width, 20) } ?? .max
        return shown.map { title, value in
            let blanks = String(repeating: " ", count: width - title.count)
            let lines = value.wrapped(to: room)
            let name = terminal.styled(title, .bold)
            if let whole = terminal.width, lines.contains(where: { $0.terminalWidth > room }) {
                return ([name] + value.wrapped(to: whole - 2)).joined(separator: "\n  ")
            }
            return name + blanks + lines.joined(separator: "\n" + String(repeating: " ", count: width))
        }.joined(separator: "\n")
    }

    /// Columns in which no cell says anything are left out, and those of bars become one bar.
    private func block(_ table: Table, _ terminal: Terminal) -> String {
        guard let rows = table.rows, table.columns.contains(where: { $0.title != nil }) else { return "" }
        guard !rows.isEmpty else { return terminal.paragraphs(text(table.ifEmpty).visible()) }
        let columns = table.shownColumns(text: text)
        let optional = columns.indices.filter { !table.columns[columns[$0]].isName }.dropFirst()
        var lines = TextTable(columns.map { (table.columns[$0].title ?? "").uppercased() }, optional: Array(optional))
        for row in rows {
            let parts = row.compactMap { cell in
                cell.bar.map { part -> Bar.Part in cell.isHigh ? (part, "!", .red) : (part, "#", .green) }
            }
            lines.add(
                columns.map { column in row[column].sentence.map { (text($0), $0.style) } ?? ("-", nil) },
                bar: parts.isEmpty ? nil : Bar(parts: parts)
            )
        }
        let title = table.title.map { terminal.styled($0.visible(), .bold) }
        let heading = [title, table.caption.map { text($0).visible() }].compactMap(\.self).joined(separator: ". ")
        return (heading.isEmpty ? "" : terminal.paragraphs(heading) + "\n") + lines.text(on: terminal)
    }

    private func text(_ sentence: Sentence) -> String { sentence.text(at: now, time: TimeText.local) }
}

extension Sentence {
    fileprivate var style: TextStyle? {
        guard case .tag(_, let tone)? = segments.first, segments.count == 1 else { return nil }
        return switch tone {
        case .good: .green
        case .alert: .red
        case .part: .yellow
        case .off: .faint
        case .plain: nil
        }
    }
}

enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case table, json
}

struct OutputOptions: ParsableArguments {
    @Option(help: "The format: table for people, json for programs.") var format: OutputFormat = .table

    func print(_ report: Report) {
        VersionGateCommands.print(format == .json ? report.json.lines : report.text())
    }
}
