package import Postgres
package import UpdatePolicy

package enum PolicyDetail: Sendable {
    /// What servers need: no notes, and lengths of time in microseconds.
    case served
    /// All that people edit, as they wrote it.
    case edited
}

/// Reads the records of one table out of rows. The index and the decoder of each column are found once for all.
struct RecordReader<Record: PolicyRecord> {
    private typealias Decoder = (inout Record, PostgresRow) throws -> Void

    /// The columns as the query selects them; attributes, which have rows of their own, are not among them.
    let selectList: String
    private let decoders: [Decoder]
    private let blank = Record.blank

    init(_ detail: PolicyDetail, from first: Int) {
        let columns = Record.columns.filter { column in
            column.type != .attributes && (detail == .edited || column.role != .note)
        }
        selectList = columns.map { Self.expression($0.definition, detail) }.joined(separator: ", ")
        decoders = zip(columns, first...).map { Self.decoder($0, $1) }
    }

    func record(_ row: PostgresRow) throws -> Record {
        var record = blank
        for decode in decoders { try decode(&record, row) }
        return record
    }

    private static func expression(_ column: ColumnDefinition, _ detail: PolicyDetail) -> String {
        let name = column.name
        switch column.type {
        case .integer: return "\(name)::int8"
        case .percentage: return "(\(name) * 100)::int4"
        case .duration:
            // No time at all is no condition.
            guard detail == .edited else { return "nullif((extract(epoch FROM \(name)) * 1000000)::int8, 0)" }
            return """
                CASE WHEN \(name) IS NOT NULL THEN ARRAY[
                    extract(day FROM \(name))::int8,
                    (extract(epoch FROM \(name)) * 1000000)::int8 - extract(day FROM \(name))::int8 * 86400000000
                ] END
                """
        default: return name
        }
    }

    /// A closure that sets the value of a column in a blank record. It does nothing for a default value, which most are.
    private static func decoder(_ column: PolicyColumn<Record>, _ index: Int) -> Decoder {
        func decoder<Value: ColumnContent & PostgresDecodable>(_: Value.Type) -> Decoder {
            guard let path = (column.property as? PolicyColumn<Record>.Property<Value>)?.path else {
                preconditionFailure("\(column.name) holds another type than \(Value.self)")
            }
            let usual = Record.blank[keyPath: path]
            let isOptional = column.defaultValue == .null
            return { record, row in
                if isOptional, row.isNull(index) { return }
                let value = try row.decode(index, as: Value.self)
                if value != usual { record[keyPath: path] = value }
            }
        }
        guard let type = column.property.valueType as? any (ColumnContent & PostgresDecodable).Type else {
            preconditionFailure("\(column.name) cannot be read from a result")
        }
        return decoder(type)
    }
}

extension DayTimeInterval: PostgresDecodable {
    /// Reads microseconds, or an array of days and microseconds.
    package init(from cell: PostgresCell) throws(PostgresError) {
        guard cell.type != .int8 else {
            self.init(microseconds: try Int64(from: cell))
            return
        }
        let parts = try [Int64](from: cell)
        self.init(days: Int32(truncatingIfNeeded: parts[0]), microseconds: parts[1])
    }
}
