/// One value of a result in its binary form.
///
/// The bytes belong to the result; a cell lives only while a `PostgresDecodable` reads it.
public struct PostgresCell {
    /// The column it stands in.
    public var column: PostgresColumn { columns.list[index] }

    /// The type of the value: the column's, or the element's inside an array.
    public let type: PostgresType

    /// The bytes, or nil for NULL; valid during the call that was given the cell.
    public let bytes: UnsafeRawBufferPointer?

    private let columns: PostgresColumns
    private let index: Int

    init(columns: PostgresColumns, index: Int, type: PostgresType, bytes: UnsafeRawBufferPointer?) {
        self.columns = columns
        self.index = index
        self.type = type
        self.bytes = bytes
    }

    /// Whether the value is NULL.
    public var isNull: Bool { bytes == nil }

    /// An element of the array that this cell holds.
    func element(type: PostgresType, bytes: UnsafeRawBufferPointer?) -> PostgresCell {
        PostgresCell(columns: columns, index: index, type: type, bytes: bytes)
    }

    /// The bytes of a value that must be there and of a type, else an error that names column and types.
    public func bytes(of expected: PostgresType, wanted: String) throws(PostgresError) -> UnsafeRawBufferPointer {
        guard type == expected else { throw error("it has the type \(type) where \(wanted) is wanted") }
        return try bytes(wanted: wanted)
    }

    func bytes(wanted: String) throws(PostgresError) -> UnsafeRawBufferPointer {
        guard let bytes else { throw error("it is NULL where \(wanted) is wanted") }
        return bytes
    }

    /// A big-endian integer of exactly the width of `Value`.
    func integer<Value: FixedWidthInteger>(
        _: Value.Type,
        of expected: PostgresType,
        wanted: String
    ) throws(PostgresError) -> Value {
        guard type == expected else { throw error("it has the type \(type) where \(wanted) is wanted") }
        return try integer(Value.self, in: bytes(wanted: wanted))
    }

    func integer<Value: FixedWidthInteger>(
        _: Value.Type,
        in bytes: UnsafeRawBufferPointer
    ) throws(PostgresError) -> Value {
        guard bytes.count == MemoryLayout<Value>.size else {
            throw error("its \(bytes.count) bytes are not the \(MemoryLayout<Value>.size) of its type \(type)")
        }
        return Value(bigEndian: bytes.loadUnaligned(as: Value.self))
    }

    /// An error that names the column.
    public func error(_ fault: String) -> PostgresError {
        PostgresError(.decoding, "column \(column.name): \(fault)")
    }
}
