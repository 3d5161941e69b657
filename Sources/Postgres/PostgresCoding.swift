/// A Swift type whose values can be sent as parameters of a statement.
package protocol PostgresEncodable: Sendable {
    static var postgresType: PostgresType { get }

    /// Whether `encode(into:)` writes the text of a literal instead of the type's binary form.
    static var postgresIsText: Bool { get }

    /// Appends the value in the wire form of its type. Throws `.encoding` for a value that the type cannot hold.
    func encode(into encoder: inout PostgresEncoder) throws(PostgresError)
}

extension PostgresEncodable {
    package static var postgresIsText: Bool { false }
}

/// A Swift type that can be read from a column of a result.
package protocol PostgresDecodable {
    /// Reads the value from its binary form. Throws `.decoding` with the column's name and type if it does not fit.
    init(from cell: PostgresCell) throws(PostgresError)
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    package init(from cell: PostgresCell) throws(PostgresError) {
        self = cell.isNull ? nil : try Wrapped(from: cell)
    }
}

/// The bytes of all parameters of one statement, one after the other.
package struct PostgresEncoder: Sendable {
    fileprivate var bytes: [UInt8] = []

    package mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends text as UTF-8. Text with a NUL character is refused, because PostgreSQL cannot hold one.
    package mutating func append(text: String) throws(PostgresError) {
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        guard !bytes[start...].contains(0) else {
            throw PostgresError(
                .encoding, "the text of a parameter contains a NUL character, which PostgreSQL cannot store",
                hint: "Remove the character U+0000 from the text."
            )
        }
    }

    /// Appends an element of an array behind its length.
    fileprivate mutating func append(element: some PostgresEncodable) throws(PostgresError) {
        let start = bytes.count
        append(Int32(0))
        try element.encode(into: &self)
        let length = Int32(truncatingIfNeeded: bytes.count - start - 4)
        withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
    }
}

/// The parameters of one statement in a single arena, so that every pointer handed to libpq lives in one scope.
struct PostgresParameters {
    private var encoder = PostgresEncoder()
    private var offsets: [Int?] = []
    private var types: [UInt32] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// The most that the protocol can carry.
    private static let limit = 65535

    init(_ values: [(any PostgresEncodable)?]) throws(PostgresError) {
        guard values.count <= Self.limit else {
            throw PostgresError(.encoding, "a statement has \(values.count) parameters, more than \(Self.limit)")
        }
        for (index, value) in values.enumerated() {
            do {
                try append(value)
            } catch {
                var error = error
                error.message = "parameter $\(index + 1): \(error.message)"
                throw error
            }
        }
        // A zero-length parameter at the end still needs an address inside the arena.
        encoder.append(UInt8(0))
        guard encoder.bytes.count <= Int(Int32.max) else {
            throw PostgresError(.encoding, "the parameters of a statement are larger than 2 GiB")
        }
    }

    private mutating func append(_ value: (any PostgresEncodable)?) throws(PostgresError) {
        let start = encoder.bytes.count
        try value?.encode(into: &encoder)
        let kind: (any PostgresEncodable.Type)? = value.map { type(of: $0) }
        offsets.append(value == nil ? nil : start)
        types.append((kind?.postgresType ?? .unspecified).rawValue)
        lengths.append(Int32(truncatingIfNeeded: encoder.bytes.count - start))
        formats.append(kind?.postgresIsText == false ? 1 : 0)
        if kind?.postgresIsText == true { encoder.append(UInt8(0)) }
    }

    /// Lends the parallel arrays that `PQsendQueryParams` takes; the pointers are valid inside `body` alone.
    func withPointers<R>(
        _ body: (
            _ count: Int32, _ types: [UInt32], _ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]
        ) -> R
    ) -> R {
        encoder.bytes.withUnsafeBytes { arena in
            let base = arena.baseAddress!.assumingMemoryBound(to: CChar.self)
            let values = offsets.map { offset in offset.map { base + $0 } }
            return body(Int32(types.count), types, values, lengths, formats)
        }
    }
}

// MARK: Arrays

/// A Swift type that can stand in an array.
package protocol PostgresArrayElement: Sendable {
    static var postgresElementType: PostgresType { get }

    /// Appends the element behind its length, -1 for NULL.
    func encodeElement(into encoder: inout PostgresEncoder) throws(PostgresError)
}

extension PostgresArrayElement where Self: PostgresEncodable {
    /// Text has no type of its own as a parameter, but inside an array it needs one.
    package static var postgresElementType: PostgresType { postgresType == .unspecified ? .text : postgresType }

    package func encodeElement(into encoder: inout PostgresEncoder) throws(PostgresError) {
        try encoder.append(element: self)
    }
}

extension Optional: PostgresArrayElement where Wrapped: PostgresArrayElement {
    package static var postgresElementType: PostgresType { Wrapped.postgresElementType }

    package func encodeElement(into encoder: inout PostgresEncoder) throws(PostgresError) {
        if let self { try self.encodeElement(into: &encoder) } else { encoder.append(Int32(-1)) }
    }
}

/// The binary form of arrays, as `array_send` and `array_recv` in PostgreSQL's `arrayfuncs.c` define it: the number
/// of dimensions, a flag for NULLs, the element's type, then per dimension its length and lower bound, then the elements.
extension Array: PostgresEncodable where Element: PostgresArrayElement {
    package static var postgresType: PostgresType { Element.postgresElementType.array }

    /// Writes a one-dimensional array. The server finds out by itself whether it has NULLs.
    package func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        encoder.append(Int32(isEmpty ? 0 : 1))
        encoder.append(Int32(0))
        encoder.append(Element.postgresElementType.rawValue)
        guard !isEmpty else { return }
        encoder.append(Int32(truncatingIfNeeded: count))
        encoder.append(Int32(1))
        for element in self { try element.encodeElement(into: &encoder) }
    }
}

extension Array: PostgresDecodable where Element: PostgresArrayElement & PostgresDecodable {
    /// Reads a one-dimensional array. NULL elements are refused unless the element is optional, and so are arrays of
    /// more dimensions.
    package init(from cell: PostgresCell) throws(PostgresError) {
        let wanted = "an array"
        var rest = try cell.bytes(wanted: wanted)
        func take(_ count: Int) throws(PostgresError) -> UnsafeRawBufferPointer {
            guard count <= rest.count else { throw cell.error("its array is cut short") }
            defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count)) }
            return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        }
        func int32() throws(PostgresError) -> Int32 {
            Int32(bigEndian: try take(4).loadUnaligned(as: Int32.self))
        }
        guard cell.type.isArray else { throw cell.mismatch(wanted: wanted) }
        let dimensions = try int32()
        _ = try int32()
        let type = PostgresType(rawValue: UInt32(bitPattern: try int32()))
        self = []
        if dimensions == 0 { return }
        guard dimensions == 1 else { throw cell.error("its array has \(dimensions) dimensions where one is wanted") }
        let count = try int32()
        _ = try int32()
        for _ in 0..<count {
            let length = Int(try int32())
            let bytes = try length < 0 ? nil : take(length)
            append(try Element(from: PostgresCell(column: cell.column, type: type, bytes: bytes)))
        }
    }
}
