import PolicyStore
import UpdatePolicy

extension PolicyRecord {
    /// The columns that people edit, for people and for programs.
    var fields: [Report.Field] {
        Self.columns.map { Report.Field($0.name, json: $0.name, $0.value(of: self).cell(as: $0.type)) }
    }

    /// For programs: an object of these columns, or of some of them.
    func json(_ names: [String]? = nil) -> JSONValue {
        .object(
            Self.columns.filter { names?.contains($0.name) ?? true }
                .map { (name: $0.name, value: $0.value(of: self).jsonValue) }
        )
    }
}

extension Column {
    static func columns<Record: PolicyRecord>(of record: @escaping @Sendable (Row) -> Record) -> [Column] {
        Record.columns.map { column in
            Column(nil, json: column.name) { .data(column.value(of: record($0))) }
        }
    }
}

extension PolicyValue {
    /// With what a range means, and how far a time is.
    fileprivate func cell(as type: ColumnType) -> Cell {
        let sentence: Sentence? =
            switch self {
            case .null: nil
            case .text(let text):
                type == .range
                    ? VersionRange(text.string).map { "\(text) (\($0.inWords))" } ?? Sentence(text.string)
                    : Sentence(text.string)
            case .texts(let texts): Sentence(texts.map(\.string).joined(separator: ", "))
            case .boolean(let flag): "\(flag)"
            case .integer(let number): "\(number)"
            case .percentage(let percentage): "\(percentage)"
            case .time(let time): "\(timeAndDistance: time)"
            case .duration(let duration): "\(duration)"
            case .attributes(let attributes):
                Sentence(
                    attributes.sorted { $0.key < $1.key }.map { name, values in
                        let meaning = values.range.flatMap { VersionRange($0.string) }
                        return values.text(of: name.string) + (meaning.map { " (\($0.inWords))" } ?? "")
                    }.joined(separator: "; ")
                )
            }
        return .sentence(sentence, json: self)
    }
}
