import Postgres
import UpdatePolicy

/// How much of the policy tables is read.
enum PolicyDetail: Sendable {
    /// What servers need: no notes, and lengths of time in microseconds.
    case served
    /// All that people edit, as they wrote it.
    case edited
}

/// Reads the records of one table out of the rows of a query.
///
/// The index and the decoder of each column are found once for all rows.
struct RecordReader<Record: PolicyRecord> {
    private typealias Decoder = (inout Record, PostgresRow) throws -> Void

    /// The columns as the query selects them; attributes, which have rows of their own, are not among them.
    let selectList: String
    private let decoders: [Decoder]
    private let blank = Record.blank

    /// Prepares to read the columns of a table.
    ///
    /// - Parameter first: The index of the first column in the select list of the query.
    init(_ detail: PolicyDetail, from first: Int) {
        let columns = Record.columns.filter { column in
            column.type != .attributes && (detail == .edited || column.role != .note)
        }
        selectList = columns.map { Self.expression($0.definition, detail) }.joined(separator: ", ")
        decoders = zip(columns, first...).map { Self.decoder($0, detail, $1) }
    }

    /// The record of a row.
    func record(_ row: PostgresRow) throws -> Record {
        var record = blank
        for decode in decoders { try decode(&record, row) }
        return record
    }

    private static func expression(_ column: ColumnDefinition, _ detail: PolicyDetail) -> String {
        let name = column.name
        switch column.type {
        case .text, .key, .bundle, .language, .platform, .version, .range, .texts, .platforms, .boolean, .time,
            .attributes, .bigInteger:
            return name
        case .integer: return "\(name)::int8"
        case .percentage: return "(\(name) * 100)::int4"
        case .duration:
            guard detail == .edited else { return "(extract(epoch FROM \(name)) * 1000000)::int8" }
            return """
                CASE WHEN \(name) IS NOT NULL THEN ARRAY[
                    extract(day FROM \(name))::int8,
                    (extract(epoch FROM \(name)) * 1000000)::int8 - extract(day FROM \(name))::int8 * 86400000000
                ] END
                """
        }
    }

    /// A closure that sets the value of a column in a blank record. It does nothing for a default value, which most are.
    private static func decoder(_ column: PolicyColumn<Record>, _ detail: PolicyDetail, _ index: Int) -> Decoder {
        switch column.property {
        case .text(let path): return { $0[keyPath: path] = try $1.decode(index, as: String.self) }
        case .optionalText(let path):
            return unlessNull(index) { $0[keyPath: path] = try $1.decode(index, as: String.self) }
        case .texts(let path): return unlessNull(index) { $0[keyPath: path] = try $1.decode(index, as: [String].self) }
        case .flag(let path): return unlessUsual(path) { try $0.decode(index, as: Bool.self) }
        case .integer(let path): return unlessUsual(path) { Int(try $0.decode(index, as: Int64.self)) }
        case .optionalInteger(let path):
            return unlessNull(index) { $0[keyPath: path] = try $1.decode(index, as: Int64.self) }
        case .percentage(let path): return unlessUsual(path) { try Percentage(row: $0, column: index) }
        case .optionalPercentage(let path):
            return unlessNull(index) { $0[keyPath: path] = try Percentage(row: $1, column: index) }
        case .time(let path):
            return { $0[keyPath: path] = Timestamp(try $1.decode(index, as: PostgresTimestamp.self)) }
        case .optionalTime(let path):
            return unlessNull(index) { $0[keyPath: path] = Timestamp(try $1.decode(index, as: PostgresTimestamp.self)) }
        case .duration(let path) where detail == .served:
            return unlessNull(index) { record, row in
                // No time at all is no condition.
                let length = try row.decode(index, as: Int64.self)
                if length != 0 { record[keyPath: path] = DayTimeInterval(microseconds: length) }
            }
        case .duration(let path):
            return unlessNull(index) { record, row in
                let parts = try row.decode(index, as: [Int64].self)
                record[keyPath: path] = DayTimeInterval(
                    days: Int32(truncatingIfNeeded: parts[0]),
                    microseconds: parts[1]
                )
            }
        case .attributes: preconditionFailure("attributes have rows of their own")
        }
    }

    private static func unlessNull(_ index: Int, _ decode: @escaping Decoder) -> Decoder {
        { record, row in
            if !row.isNull(index) { try decode(&record, row) }
        }
    }

    private static func unlessUsual<Value: Equatable>(
        _ path: PolicyColumn<Record>.Path<Value>,
        _ decode: @escaping (PostgresRow) throws -> Value
    ) -> Decoder {
        let usual = Record.blank[keyPath: path]
        return { record, row in
            let value = try decode(row)
            if value != usual { record[keyPath: path] = value }
        }
    }
}
