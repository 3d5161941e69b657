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
    package static var postgresType: PostgresType { PostgresTimestamp.postgresType }
    package static var postgresArrayType: PostgresType { PostgresTimestamp.postgresArrayType }

    package func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        try PostgresTimestamp(microsecondsSince1970: microsecondsSince1970).encode(into: &encoder)
    }

    package init(from cell: PostgresCell) throws(PostgresError) {
        self.init(microsecondsSince1970: try PostgresTimestamp(from: cell).microsecondsSince1970)
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
