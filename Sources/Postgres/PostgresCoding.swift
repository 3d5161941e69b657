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

/// A Swift type that can be read from a column of a result.
public protocol PostgresDecodable {
    /// Reads the value from its binary form. Throws `.decoding` with the column's name and type if it does not fit.
    init(from cell: PostgresCell) throws(PostgresError)
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    /// Reads NULL as nil.
    @inlinable
    public init(from cell: PostgresCell) throws(PostgresError) {
        self = cell.isNull ? nil : try Wrapped(from: cell)
    }
}

/// The bytes of all parameters of one statement, one after the other.
public struct PostgresEncoder: Sendable {
    private(set) var bytes: [UInt8] = []

    init() {}

    var count: Int { bytes.count }

    /// Appends an integer in network byte order.
    public mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends bytes as they are.
    public mutating func append(contentsOf newBytes: some Sequence<UInt8>) {
        bytes.append(contentsOf: newBytes)
    }

    /// Appends text as UTF-8. Text with a NUL character is refused, because PostgreSQL cannot hold one.
    public mutating func append(text: String) throws(PostgresError) {
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        guard !bytes[start...].contains(0) else {
            throw PostgresError(
                .encoding, "the text of a parameter contains a NUL character, which PostgreSQL cannot store",
                hint: "Remove the character U+0000 from the text."
            )
        }
    }

    mutating func replaceInt32(at offset: Int, with value: Int32) {
        withUnsafeBytes(of: value.bigEndian) { source in
            for (index, byte) in source.enumerated() { bytes[offset + index] = byte }
        }
    }
}
