import PolicyStore
import Postgres
import Reports
import UpdatePolicy

extension Subject {
    /// Where pages show it.
    var address: String {
        switch self {
        case .app(let bundle): "/apps/\(bundle.percentEncoded)"
        case .rule(let key): "/rules/\(key.percentEncoded)"
        case .change(let id): "/history?about=\(id)#change-\(id)"
        case .history(let name): "/history?about=\(name.percentEncoded)"
        case .check(let bundle):
            "/try" + (bundle.map { "?\(ClientField.bundle.name)=\($0.percentEncoded)" } ?? "")
        case .rules: "/rules"
        case .apps: "/apps"
        case .unknowns: "/unknowns"
        }
    }
}

/// Views of parts for the templates.
extension Page {
    static func link(_ title: String, _ address: String, isCurrent: Bool = false) -> JSONValue {
        ["title": title, "address": address, "isCurrent": isCurrent]
    }

    /// The parts under their headings; the title of a table is one.
    var sections: [JSONValue] {
        var sections: [(id: String?, title: String?, parts: [JSONValue])] = [(nil, nil, [])]
        for part in opening.map(Part.report) + notes.map({ .report(.note($0)) }) + parts {
            switch part {
            case .report(.heading(let title, let id)): sections.append((id, title, []))
            case .report(let part):
                if case .table(let table) = part, let title = table.title {
                    let words = title.lowercased().split { !$0.isASCII || !$0.isLetter && !$0.isNumber }
                    sections.append((words.joined(separator: "-"), title, []))
                }
                if let view = view(part, id: sections[sections.count - 1].id) {
                    sections[sections.count - 1].parts.append(view)
                }
            case .own(let name, let view):
                sections[sections.count - 1].parts.append(.object([(name: name, value: view)]))
            }
        }
        return sections.filter { !$0.parts.isEmpty }.map { ["id": $0.id, "title": $0.title, "parts": $0.parts] }
    }

    func view(_ sentence: Sentence) -> JSONValue { ["segments": sentence.segments.map(view)] }

    private func view(_ segment: Sentence.Segment) -> JSONValue {
        switch segment {
        case .text(let text): ["plain": text]
        case .time(let time): ["moment": time, "shown": NumberText.minute(time)]
        case .timeAndDistance(let time):
            ["moment": time, "shown": NumberText.minute(time), "distance": distance(to: time)]
        case .distance(let time): ["moment": time, "shown": distance(to: time) ?? NumberText.minute(time)]
        case .command(let command): ["code": command]
        case .link(let text, let subject): ["href": subject.address, "label": text]
        case .tag(let text, let tone): ["tone": tone.rawValue, "label": text]
        case .aside(let text): ["aside": text]
        }
    }

    private func distance(to time: Timestamp) -> String? { time == now ? "now" : time.distance(from: now) }

    /// A part of a report; nil: it has nothing for people.
    private func view(_ part: Report.Part, id: String?) -> JSONValue? {
        switch part {
        case .heading: nil
        case .text(let sentence): ["paragraph": view(sentence)]
        case .note(let note):
            ["note": ["kind": note.kind.rawValue, "text": view(note.text), "remedy": note.remedy] as JSONValue]
        case .fields(let fields): view(fields, isStrip: false).map { ["fields": $0] }
        case .table(let table): ["table": view(table, id: id)]
        case .chart(let chart): ["charts": Self.charts([chart], of: "/overview")]
        case .changes(let changes, let empty):
            changes.isEmpty ? ["empty": empty] : ["changes": changes.map(view)]
        case .edits(let edits):
            [
                "edits": [
                    "ways": edits.map { edit -> JSONValue in
                        ["what": edit.what, "command": edit.command, "sql": edit.sql]
                    }
                ] as JSONValue
            ]
        }
    }

    /// Names and values, beside each other in a strip; nil: there are none for people.
    func view(_ fields: [Report.Field], isStrip: Bool) -> JSONValue? {
        let terms = fields.compactMap { field -> JSONValue? in
            guard let title = field.title, let value = field.cell.sentence else { return nil }
            return ["term": title, "value": view(value)]
        }
        return terms.isEmpty ? nil : ["isStrip": isStrip, "terms": terms]
    }

    private func view(_ table: Table, id: String?) -> JSONValue {
        guard let rows = table.rows, !rows.isEmpty else {
            return ["none": view(table.rows == nil ? "Not known here; the notice above says why." : table.ifEmpty)]
        }
        let shown = table.shownColumns(hasBars: true, text: \.plain)
        let head = shown.map { column -> JSONValue in
            ["title": table.columns[column].title, "isFigure": rows[0][column].isFigure]
        }
        let body = rows.map { row -> JSONValue in
            let cells = shown.map { column -> JSONValue in
                let cell = row[column]
                let look = [("figure", cell.isFigure), ("high", cell.isHigh), ("bar", cell.bar != nil)]
                return [
                    "value": cell.sentence.map(view), "isName": table.columns[column].isName,
                    "look": look.filter(\.1).map(\.0).joined(separator: " "),
                    "bar": cell.bar.map { "\($0 > 0 ? max(1, Int(($0 * 100).rounded())) : 0)" },
                ]
            }
            return ["cells": cells]
        }
        return [
            "id": id ?? "heading", "head": head, "rows": body, "caption": table.caption.map(view),
            "summary": table.summary,
        ]
    }

    private func view(_ change: PolicyChange) -> JSONValue {
        let missing = change.rowCount - change.rows.count
        let undoes = change.undoes.map { id -> Sentence in ", undoes \("\(id)", .change(id))" } ?? ""
        return [
            "id": change.id, "isOpen": question.members["about"] == "\(change.id)",
            "summary": view(ChangeFormatter.summary(change, hasValues: true)),
            "address": Subject.change(change.id).address,
            "meta": view(
                "\(timeAndDistance: change.at) by \(change.author)\(change.tool.map { " with \($0)" } ?? "")\(undoes)"),
            "why": change.why,
            // What an undo takes back.
            "what": change.rowCount == 1 ? "it" : "all \(change.rowCount) rows of it",
            "undo": PrintedCommand.text("undo \(change.id)"), "changedRows": change.rows.map(view),
            "moreRows": missing > 0 ? "\(missing) more rows: \(PrintedCommand("history \(change.id) --details"))" : "",
        ]
    }

    /// An added or removed row has the columns that are not as they are by default.
    private func view(_ row: PolicyChange.Row) -> JSONValue {
        let columns = (row.kind == .changed ? row.columns : ChangeFormatter.changedFromDefault(row)).map {
            column -> JSONValue in
            let values = [column.before, column.after].map {
                view(ChangeFormatter.value($0, of: column.name, in: row.table))
            }
            return [
                "column": column.name, "before": values[0], "after": values[1],
                "hasBefore": row.kind != .added, "hasAfter": row.kind != .removed,
            ]
        }
        let name: Sentence =
            switch PolicyTable(rawValue: row.table) {
            case .rules where row.kind != .removed: "rule \(row.key, .rule(row.key))"
            case .apps where row.kind != .removed: "app \(row.key, .app(row.key))"
            default: ChangeFormatter.name(row)
            }
        return ["rowName": view(name), "rowKind": row.kind.rawValue, "columns": columns]
    }
}
