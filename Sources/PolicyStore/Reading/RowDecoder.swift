import Foundation
package import Postgres
package import UpdatePolicy

extension PostgresResult {
    /// The rows as values: a property is the column of its name in snake case. A column of JSON can hold any value.
    package func rows<Row: Decodable>(as _: Row.Type = Row.self) throws -> [Row] {
        guard let first else { return [] }
        let decoder = RowDecoder(first)
        return try map { row in
            decoder.row = row
            return try Row(from: decoder)
        }
    }

    package func rows<Key: PostgresDecodable & Hashable, Row: Decodable>(by column: String) throws -> [Key: Row] {
        let keys: [Key] = try map { try $0.decode(column) }
        return Dictionary(zip(keys, try rows(as: Row.self))) { first, _ in first }
    }

    package func values<Value: PostgresDecodable>(as _: Value.Type = Value.self) throws -> [Value] {
        try map { try $0.decode(0) }
    }
}

private final class RowDecoder: Decoder {
    var row: PostgresRow
    private let columns: [String: Int]
    private var columnsOfKeys: [String: Int] = [:]
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ row: PostgresRow) {
        self.row = row
        columns = Dictionary(row.columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }

    func column(of key: some CodingKey) throws -> Int {
        if let column = columnsOfKeys[key.stringValue] { return column }
        let name = key.stringValue.replacing(#/[A-Z]+/#) { "_" + $0.output.lowercased() }
        guard let column = columns[name] else {
            throw PostgresError(.decoding, "the result has no column named \(name)")
        }
        columnsOfKeys[key.stringValue] = column
        return column
    }

    func value<Value: Decodable>(_ key: some CodingKey) throws -> Value {
        let column = try column(of: key)
        if let type = Value.self as? any PostgresDecodable.Type, let value = try row.decode(column, as: type) as? Value
        {
            return value
        }
        let json = Data(try row.decode(column, as: String.self).utf8)
        do {
            return try JSONDecoder().decode(Value.self, from: json)
        } catch {
            throw PostgresError(
                .decoding, "column \(row.columns[column].name) holds other JSON than is wanted: \(error)")
        }
    }

    func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Columns(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw PostgresError(.misuse, "a row has names")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw PostgresError(.misuse, "a row is not a single value")
    }

    private struct Columns<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: RowDecoder

        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }
        func contains(_: Key) -> Bool { true }
        func decodeNil(forKey key: Key) throws -> Bool { decoder.row.isNull(try decoder.column(of: key)) }
        func superDecoder() -> any Decoder { decoder }
        func superDecoder(forKey _: Key) -> any Decoder { decoder }
        func decode<Value: Decodable>(_: Value.Type, forKey key: Key) throws -> Value { try decoder.value(key) }

        func nestedContainer<Nested: CodingKey>(
            keyedBy _: Nested.Type,
            forKey _: Key
        ) -> KeyedDecodingContainer<Nested> { decoder.container(keyedBy: Nested.self) }

        func nestedUnkeyedContainer(forKey _: Key) throws -> any UnkeyedDecodingContainer {
            try decoder.unkeyedContainer()
        }
    }
}

extension Timestamp: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    package static var postgresType: PostgresType { .timestamptz }

    /// PostgreSQL counts from 2000-01-01 00:00:00 UTC, this many microseconds after 1970.
    private static let epoch: Int64 = 946_684_800_000_000

    /// 4714-11-24 00:00:00 BC, the first moment that PostgreSQL can hold, in its own count.
    private static let first: Int64 = -211_813_488_000_000_000

    package func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        let (value, overflow) = microsecondsSince1970.subtractingReportingOverflow(Self.epoch)
        guard !overflow, value >= Self.first else {
            throw PostgresError(.encoding, "a timestamp is before 4714 BC, the first year that PostgreSQL can hold")
        }
        encoder.append(value)
    }

    package init(from cell: PostgresCell) throws(PostgresError) {
        let wanted = "a timestamp"
        guard cell.type == .timestamptz else { throw cell.mismatch(wanted: wanted) }
        let value = try cell.integer(Int64.self, wanted: wanted)
        if value == .max || value == .min {
            throw cell.error("it is \(value == .max ? "infinity" : "-infinity"), which is not a point in time")
        }
        let (sum, overflow) = value.addingReportingOverflow(Self.epoch)
        guard !overflow else {
            throw cell.error("it is after the year 294246, more microseconds since 1970 than 64 bits hold")
        }
        self.init(microsecondsSince1970: sum)
    }
}

extension Percentage: PostgresDecodable {
    /// Of hundredths of a percent.
    package init(from cell: PostgresCell) throws(PostgresError) {
        let hundredths = try Int(from: cell)
        guard let percentage = Percentage(hundredths: hundredths) else {
            throw cell.error("it holds \(hundredths) hundredths of a percent, not 0 to 10000")
        }
        self = percentage
    }
}

extension PostgresDecodable where Self: RawRepresentable, RawValue == String {
    package init(from cell: PostgresCell) throws(PostgresError) {
        let text = try String(from: cell)
        guard let value = Self(rawValue: text) else { throw cell.error("\(text) is none of its cases") }
        self = value
    }
}
