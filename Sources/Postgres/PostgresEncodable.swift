// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A Swift type whose values can be sent as parameters of a statement.
public protocol PostgresEncodable: Sendable {
    /// The parameter type that is sent to the server.
    static var postgresType: PostgresType { get }

    /// Whether `encode(into:)` writes the text of a literal instead of the type's binary form.
    static var postgresIsText: Bool { get }

    /// Appends the value in the wire form of its type. Throws `.encoding` for a value that the type cannot hold.
    func encode(into encoder: inout PostgresEncoder) throws(PostgresError)
}

extension PostgresEncodable {
    /// Binary, unless a type says otherwise.
    public static var postgresIsText: Bool { false }
}

/// A Swift type that can stand in an array parameter.
public protocol PostgresArrayElement: Sendable {
    /// The type of an array of these that is sent to the server.
    static var postgresArrayType: PostgresType { get }

    /// Appends a whole array in its wire form.
    static func encodeArray(_ array: [Self], into encoder: inout PostgresEncoder) throws(PostgresError)

    /// Reads a whole array.
    static func decodeArray(_ cell: PostgresCell) throws(PostgresError) -> [Self]
}
