import PolicyStore
import Postgres
import Reports
import UpdatePolicy

/// The parts of a page, for the template `layout`.
struct PageBody {
    private enum Part {
        case report(Report.Part)
        /// A part that no report has, for the template of this name.
        case own(String, JSONValue)
    }

    private var parts: [Part]

    /// - Parameter notes: What stands before all.
    init(_ notes: [Report.Note] = []) { parts = notes.map { .report(.note($0)) } }

    mutating func add(_ parts: [Report.Part]) { self.parts += parts.map { .report($0) } }
    mutating func add(_ part: Report.Part) { parts.append(.report(part)) }
    mutating func add(_ name: String, _ view: JSONValue?) { if let view { parts.append(.own(name, view)) } }
    mutating func add(links: [Link]) { if !links.isEmpty { add("links", ["items": links.map(\.view)]) } }

    /// Fields beside each other.
    mutating func add(strip fields: [Report.Field], in context: PageContext) {
        add("fields", context.view(fields, isStrip: true))
    }

    /// Ways to edit what the page shows.
    mutating func add(edits: [Report.Edit]) {
        if edits.isEmpty { return }
        add(.heading("How to change it", id: "edits"))
        add(
            .text(
                "Nothing here edits. Type a command, or the SQL below it, with your own login at the database that is named at the top."
            )
        )
        add(.edits(edits))
    }

    /// Changes, or why they are not shown.
    ///
    /// - Parameters:
    ///   - changes: nil: not known.
    ///   - none: What is said where there are none.
    ///   - hiddenFrom: The role that may not read them; nil: a note says why they are not known.
    mutating func add(history changes: [PolicyChange]?, none: String, hiddenFrom role: String?) {
        if let changes {
            add(.changes(changes, ifEmpty: none))
        } else if let role {
            add(.note(PageContext.forbidden("the history", role: role)))
        } else {
            add(.text("Not known here; the notice above says why."))
        }
    }

    /// The parts under their headings; the title of a table is one.
    func sections(in context: PageContext) -> JSONValue {
        var sections: [(id: String?, title: String?, parts: [JSONValue])] = [(nil, nil, [])]
        func begin(_ title: String, _ id: String) { sections.append((id, title, [])) }
        for part in parts {
            switch part {
            case .report(.heading(let title, let id)): begin(title, id)
            case .report(let part):
                if case .table(let table) = part, let title = table.title { begin(title, PageBody.id(title)) }
                let id = sections[sections.count - 1].id
                if let view = context.view(part, id: id) { sections[sections.count - 1].parts.append(view) }
            case .own(let name, let view):
                sections[sections.count - 1].parts.append(.object([(name: name, value: view)]))
            }
        }
        return .array(
            sections.filter { !$0.parts.isEmpty }.map { ["id": $0.id, "title": $0.title, "parts": $0.parts] })
    }

    private static func id(_ title: String) -> String {
        title.lowercased().split { !$0.isASCII || !$0.isLetter && !$0.isNumber }.joined(separator: "-")
    }
}

/// A link of a page to another.
struct Link {
    private let title: String
    private let address: String
    private let isCurrent: Bool

    init(_ title: String, _ address: String, isCurrent: Bool = false) {
        self.title = title
        self.address = address
        self.isCurrent = isCurrent
    }

    var view: JSONValue { ["title": title, "address": address, "isCurrent": isCurrent] }
}

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

extension PageContext {
    /// A sentence, for the template `sentence`.
    func view(_ sentence: Sentence) -> JSONValue { ["segments": sentence.segments.map(view)] }

    private func view(_ segment: Sentence.Segment) -> JSONValue {
        switch segment {
        case .text(let text): ["plain": text]
        case .time(let time): ["moment": time, "shown": NumberText.minute(time)]
        case .timeAndDistance(let time):
            [
                "moment": time, "shown": NumberText.minute(time),
                "distance": time == now ? "now" : time.distance(from: now),
            ]
        case .distance(let time):
            ["moment": time, "shown": time == now ? "now" : time.distance(from: now) ?? NumberText.minute(time)]
        case .command(let command): ["code": command]
        case .link(let text, let subject): ["href": subject.address, "label": text]
        case .tag(let text, let tone): ["tone": tone.rawValue, "label": text]
        case .aside(let text): ["aside": text]
        }
    }

    /// A part of a report; nil: it has nothing for people.
    fileprivate func view(_ part: Report.Part, id: String?) -> JSONValue? {
        switch part {
        case .heading: return nil
        case .text(let sentence): return ["paragraph": view(sentence)]
        case .note(let note): return ["note": view(note)]
        case .fields(let fields):
            return view(fields, isStrip: false).map { ["fields": $0] }
        case .table(let table): return ["table": view(table, id: id)]
        case .chart(let chart): return ["charts": charts([chart], of: "/overview", nil)]
        case .changes(let changes, let empty):
            return changes.isEmpty ? ["empty": empty] : ["changes": changes.map(view)]
        case .edits(let edits):
            let ways = edits.map { ["what": $0.what, "command": $0.command, "sql": $0.sql] as JSONValue }
            return ["edits": ["ways": ways] as JSONValue]
        }
    }

    /// Names and values; nil: there are none for people.
    fileprivate func view(_ fields: [Report.Field], isStrip: Bool) -> JSONValue? {
        let terms = fields.compactMap { field -> JSONValue? in
            guard let title = field.title, let value = field.cell.sentence else { return nil }
            return ["term": title, "value": view(value)]
        }
        return terms.isEmpty ? nil : ["isStrip": isStrip, "terms": terms]
    }

    /// Charts, and the lengths of time that they may cover.
    ///
    /// - Parameters:
    ///   - charts: nil: not known.
    ///   - path: That of the page that they stand on.
    ///   - period: nil: they cover one time alone.
    func charts(_ charts: [Chart]?, of path: String, _ period: PagePeriod?) -> JSONValue {
        [
            "period": period.map { ["choices": $0.choices(path).map(\.view)] as JSONValue },
            "isUnknown": charts == nil, "figures": charts?.map { $0.view(of: path, period) },
        ]
    }

    func view(_ note: Report.Note) -> JSONValue {
        ["kind": note.kind.rawValue, "text": view(note.text), "remedy": note.remedy]
    }

    private func view(_ table: Table, id: String?) -> JSONValue {
        guard let rows = table.rows, !rows.isEmpty else {
            return ["none": view(table.rows == nil ? "Not known here; the notice above says why." : table.ifEmpty)]
        }
        // As on a terminal, a column that says nothing is left out.
        let shown = table.columns.indices.filter { column in
            guard table.columns[column].title != nil else { return false }
            return table.columns[column].isName
                || rows.contains { row in
                    row[column].bar != nil
                        || row[column].sentence.map { $0.plain != table.columns[column].silent } ?? false
                }
        }
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

    // MARK: - Changes

    private func view(_ change: PolicyChange) -> JSONValue {
        let missing = change.rowCount - change.rows.count
        let undoes = change.undoes.map { id -> Sentence in ", undoes \("\(id)", .change(id))" } ?? ""
        return [
            "id": change.id, "summary": view(Sentence(Self.words.summaryWithValues(change))),
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

    private static let words = ChangeWords { NumberText.minute($0) }

    /// An added or removed row has the columns that are not as they are by default.
    private func view(_ row: PolicyChange.Row) -> JSONValue {
        let columns = (row.kind == .changed ? row.columns : ChangeWords.changedFromDefault(row)).map {
            column -> JSONValue in
            [
                "column": column.name, "before": Self.words.value(column.before, of: column.name, in: row.table),
                "after": Self.words.value(column.after, of: column.name, in: row.table),
                "hasBefore": row.kind != .added,
                "hasAfter": row.kind != .removed,
            ]
        }
        let subject: Sentence =
            row.table == PolicyTable.rules.rawValue && row.kind != .removed
            ? "rule \(row.key, .rule(row.key))"
            : row.table == PolicyTable.apps.rawValue && row.kind != .removed
                ? "app \(row.key, .app(row.key))" : ChangeWords.name(row)
        return ["rowName": view(subject), "rowKind": row.kind.rawValue, "columns": columns]
    }
}
