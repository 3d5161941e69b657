package import PolicyStore
package import UpdatePolicy

/// A list of things of one kind.
package struct Table: Sendable {
    /// What it is of, for people: `Enabled lockouts`.
    package let title: String?
    /// What is to be known to read it.
    package let caption: Sentence?
    /// What pages show in its place until somebody wants to see it; nil: it is seen at once.
    package let summary: String?
    /// The member for programs; nil: a report of this table alone is an array, else programs do not get it.
    package let json: String?
    /// What is said in its place where it has no rows.
    package let ifEmpty: Sentence
    package let columns: [Head]
    /// A cell for each column; nil: not known.
    package let rows: [[Cell]]?

    package struct Head: Sendable {
        /// For people; nil: for programs only.
        package let title: String?
        /// For programs; nil: for people only.
        package let json: String?
        /// The cell that says nothing, beside an empty one: a column of such cells alone is left out on a terminal.
        package let silent: String?
        package let isName: Bool
    }

    package init<Row>(
        _ title: String? = nil,
        caption: Sentence? = nil,
        summary: String? = nil,
        json: String? = nil,
        ifEmpty: Sentence,
        _ rows: [Row]?,
        columns: [Column<Row>]
    ) {
        self.title = title
        self.caption = caption
        self.summary = summary
        self.json = json
        self.ifEmpty = ifEmpty
        self.columns = columns.map(\.head)
        self.rows = rows?.map { row in columns.map { $0.cell(row) } }
    }

    /// The columns that say something to people.
    package func shownColumns(hasBars: Bool = false, text: (Sentence) -> String) -> [Int] {
        columns.indices.filter { index in
            let column = columns[index]
            guard column.title != nil else { return false }
            return column.isName
                || (rows ?? []).contains { row in
                    hasBars && row[index].bar != nil || row[index].sentence.map { text($0) != column.silent } ?? false
                }
        }
    }
}

/// A column of a table: its title for people, its name for programs, and how a row fills it.
package struct Column<Row>: Sendable {
    let head: Table.Head
    let cell: @Sendable (Row) -> Cell

    /// For programs alone.
    package static func data(
        _ name: String,
        _ value: @escaping @Sendable (Row) -> (any JSONConvertible)?
    ) -> Column {
        Column(nil, json: name) { .data(value($0)) }
    }

    package init(
        _ title: String?,
        json: String? = nil,
        silent: String? = nil,
        isName: Bool = false,
        _ cell: @escaping @Sendable (Row) -> Cell
    ) {
        head = Table.Head(title: title, json: json, silent: silent, isName: isName)
        self.cell = cell
    }
}

/// A value for people and for programs.
package struct Cell: Sendable {
    /// For people; nil: there is nothing to say.
    package let sentence: Sentence?
    package let json: JSONValue
    /// Whether it is a number, which stands to the right.
    package var isFigure = false
    /// A part of a whole that pages draw as a bar.
    package var bar: Double?
    package var isHigh = false

    private init(_ sentence: Sentence?, _ json: (any JSONConvertible)?) {
        self.sentence = sentence?.isEmpty == true ? nil : sentence
        self.json = json?.jsonValue ?? .null
    }

    package static func sentence(_ sentence: Sentence?, json: (any JSONConvertible)? = nil) -> Cell {
        Cell(sentence, json)
    }
    package static func text(_ text: String?) -> Cell { Cell(text.map { Sentence($0) }, text) }
    package static func time(_ time: Timestamp?) -> Cell {
        Cell(time.map { time -> Sentence in "\(timeAndDistance: time)" }, time)
    }
    package static func count(_ count: Int64?) -> Cell {
        figure(count.map { NumberText.count($0) }, json: count)
    }
    package static func percentage(_ percentage: Percentage?) -> Cell {
        figure(percentage.map { "\($0) %" }, json: percentage)
    }
    package static func flag(_ flag: Bool?) -> Cell { Cell(flag.map { $0 ? "yes" : "no" }, flag) }
    package static func link(_ text: String, _ subject: Subject) -> Cell { Cell("\(text, subject)", text) }
    package static func tag(_ text: String?, _ tone: Tone) -> Cell {
        Cell(text.map { text -> Sentence in "\(text, tone)" }, text)
    }
    package static func command(_ words: String) -> Cell { Cell("\(command: words)", PrintedCommand.text(words)) }
    package static func figure(
        _ text: String?,
        json: (any JSONConvertible)? = nil,
        isHigh: Bool = false
    ) -> Cell {
        var cell = Cell(text.map { Sentence($0) }, json)
        cell.isFigure = true
        cell.isHigh = isHigh
        return cell
    }
    package static func bar(_ part: Double, isHigh: Bool = false) -> Cell {
        var cell = Cell(nil, nil)
        cell.bar = part
        cell.isHigh = isHigh
        return cell
    }
    package static func data(_ json: (any JSONConvertible)?) -> Cell { Cell(nil, json) }
    /// A sentence a line.
    package static func lines(_ lines: [Sentence], json: (any JSONConvertible)? = nil) -> Cell {
        Cell(lines.joined(separator: "\n"), json)
    }
}
