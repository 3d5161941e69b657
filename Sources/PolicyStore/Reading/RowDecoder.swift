import Foundation
package import Postgres

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

    /// The rows as values, each by what a column of it holds.
    package func rows<Key: PostgresDecodable & Hashable, Row: Decodable>(by column: String) throws -> [Key: Row] {
        let keys: [Key] = try map { try $0.decode(column) }
        return Dictionary(zip(keys, try rows(as: Row.self))) { first, _ in first }
    }

    /// The values of the first column.
    package func values<Value: PostgresDecodable>(as _: Value.Type = Value.self) throws -> [Value] {
        try map { try $0.decode(0) }
    }
}

/// Decodes rows of one result, whose columns it finds once.
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
        if let type = Value.self as? any PostgresDecodable.Type { return try value(of: type, column) }
        let json = Data(try row.decode(column, as: String.self).utf8)
        do {
            return try JSONDecoder().decode(Value.self, from: json)
        } catch {
            throw PostgresError(
                .decoding, "column \(row.columns[column].name) holds other JSON than is wanted: \(error)")
        }
    }

    private func value<Value>(of type: (some PostgresDecodable).Type, _ column: Int) throws -> Value {
        guard let value = try row.decode(column, as: type) as? Value else {
            preconditionFailure("\(type) is \(Value.self)")
        }
        return value
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
        func decode(_: Bool.Type, forKey key: Key) throws -> Bool { try decoder.value(key) }
        func decode(_: String.Type, forKey key: Key) throws -> String { try decoder.value(key) }
        func decode(_: Double.Type, forKey key: Key) throws -> Double { try decoder.value(key) }
        func decode(_: Float.Type, forKey key: Key) throws -> Float { try decoder.value(key) }
        func decode(_: Int.Type, forKey key: Key) throws -> Int { try decoder.value(key) }
        func decode(_: Int8.Type, forKey key: Key) throws -> Int8 { try decoder.value(key) }
        func decode(_: Int16.Type, forKey key: Key) throws -> Int16 { try decoder.value(key) }
        func decode(_: Int32.Type, forKey key: Key) throws -> Int32 { try decoder.value(key) }
        func decode(_: Int64.Type, forKey key: Key) throws -> Int64 { try decoder.value(key) }
        func decode(_: UInt.Type, forKey key: Key) throws -> UInt { try decoder.value(key) }
        func decode(_: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder.value(key) }
        func decode(_: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder.value(key) }
        func decode(_: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder.value(key) }
        func decode(_: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder.value(key) }

        func nestedContainer<Nested: CodingKey>(
            keyedBy _: Nested.Type,
            forKey _: Key
        ) -> KeyedDecodingContainer<Nested> { decoder.container(keyedBy: Nested.self) }

        func nestedUnkeyedContainer(forKey _: Key) throws -> any UnkeyedDecodingContainer {
            try decoder.unkeyedContainer()
        }
    }
}
