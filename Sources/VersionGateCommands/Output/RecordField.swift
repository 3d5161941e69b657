import UpdatePolicy

/// A field of a record, as people read it.
struct RecordField {
    let name: String
    /// The value; nil where there is none.
    var value: String?
}

extension PolicyRecord {
    /// The columns, as people read them.
    func fields(at now: Timestamp) -> [RecordField] {
        Self.columns.map { RecordField(name: $0.name, value: $0.value(of: self).words(as: $0.type, at: now)) }
    }
}

extension PolicyValue {
    /// The value for people, with what a range means and how far a time is; nil for null.
    fileprivate func words(as type: ColumnType, at now: Timestamp) -> String? {
        switch self {
        case .null: return nil
        case .text(let text):
            guard type == .range, let range = VersionRange(text.string) else { return text.string }
            return "\(text.string) (\(range.inWords))"
        case .texts(let texts): return texts.map(\.string).joined(separator: ", ")
        case .boolean(let flag): return "\(flag)"
        case .integer(let number): return "\(number)"
        case .percentage(let percentage): return "\(percentage)"
        case .time(let time): return TimeText.local(time, from: now)
        case .duration(let duration): return "\(duration)"
        case .attributes(let attributes):
            return attributes.sorted { $0.key < $1.key }.map { name, values in
                "\(name.string) = \(values.map(\.string).joined(separator: ", "))"
            }.joined(separator: "; ")
        }
    }
}
