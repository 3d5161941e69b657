import UpdatePolicy

/// A row of a list, as people read it.
protocol ListRow {
    /// The names of the columns.
    static var header: [String] { get }
    /// How many columns name a row, the first of them.
    static var named: Int { get }
    /// For a column the cell that says nothing, beside an empty one and `-`: `all`, `100 %`.
    static var silent: [String: String] { get }
    /// A cell for each column.
    var cells: [String] { get }
}

extension ListRow {
    static var named: Int { 1 }
    static var silent: [String: String] { [:] }
}

/// A row of a list that is its own JSON object.
protocol ListedObject: ListRow {
    var json: JSONValue { get }
}

extension TextTable {
    /// A table of rows.
    init<Row: ListRow>(_ rows: [Row]) {
        self.init(header: Row.header, named: Row.named, silent: Row.silent)
        for row in rows { add(cells: row.cells) }
    }
}

extension OutputOptions {
    /// Prints a list.
    ///
    /// - Parameter empty: What is said for people where there is no row.
    func print<Row: ListRow>(
        _ rows: @autoclosure () throws -> [Row],
        json: @autoclosure () throws -> String,
        ifEmpty empty: @autoclosure () -> String
    ) rethrows {
        switch format {
        case .json: VersionGateCommands.print(try json())
        case .table:
            let rows = try rows()
            VersionGateCommands.print(rows.isEmpty ? empty() : TextTable(rows).text)
        }
    }

    /// Prints a list of objects.
    func print(_ rows: [some ListedObject], ifEmpty empty: @autoclosure () -> String) {
        print(rows, json: JSONValue.array(rows.map(\.json)).lines, ifEmpty: empty())
    }
}
