package import UpdatePolicy

extension Report {
    /// For programs: an object of the fields and tables that have a name for them; of a table without one the array.
    package var json: JSONValue {
        let members = parts.flatMap { part -> [(String, JSONValue?)] in
            switch part {
            case .fields(let fields): fields.compactMap { field in field.json.map { ($0, field.cell.json) } }
            case .table(let table): table.json.map { [($0, table.array)] } ?? []
            case .heading, .text, .note, .chart, .changes, .edits: []
            }
        }
        guard members.isEmpty else { return .object(members.map { (name: $0.0, value: $0.1) }) }
        for case .table(let table) in parts { return table.array }
        return .object([])
    }
}

extension Table {
    fileprivate var array: JSONValue {
        guard let rows else { return .null }
        return .array(
            rows.map { row in
                .object(
                    zip(columns, row).compactMap { head, cell in head.json.map { (name: $0, value: cell.json) } }
                )
            }
        )
    }
}
