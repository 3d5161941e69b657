/// The binary form of arrays, as `array_send` and `array_recv` in PostgreSQL's `arrayfuncs.c` define it: the number
/// of dimensions, a flag for NULLs, the element's type, then per dimension its length and lower bound, then each
/// element behind its length, -1 for NULL.
enum PostgresArrayFormat {
    /// Text has no type of its own as a parameter, but inside an array it needs one.
    private static func elementType(_ type: PostgresType) -> PostgresType {
        type == .unspecified ? .text : type
    }

    static func encode<Element: PostgresEncodable>(
        _ elements: [Element?],
        of _: Element.Type,
        into encoder: inout PostgresEncoder
    ) throws(PostgresError) {
        encoder.append(Int32(elements.isEmpty ? 0 : 1))
        encoder.append(Int32(elements.contains { $0 == nil } ? 1 : 0))
        encoder.append(elementType(Element.postgresType).rawValue)
        guard !elements.isEmpty else { return }
        encoder.append(Int32(truncatingIfNeeded: elements.count))
        encoder.append(Int32(1))
        for element in elements {
            guard let element else {
                encoder.append(Int32(-1))
                continue
            }
            let start = encoder.count
            encoder.append(Int32(0))
            try element.encode(into: &encoder)
            encoder.replaceInt32(at: start, with: Int32(truncatingIfNeeded: encoder.count - start - 4))
        }
    }

    static func decode<Element: PostgresDecodable>(
        _ cell: PostgresCell,
        of _: Element.Type
    ) throws(PostgresError) -> [Element] {
        var rest = try cell.bytes(wanted: "an array")
        func int32() throws(PostgresError) -> Int32 {
            guard rest.count >= 4 else { throw cell.error("it has the type \(cell.type) where an array is wanted") }
            defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(4)) }
            return Int32(bigEndian: rest.loadUnaligned(as: Int32.self))
        }
        guard cell.type.isArray else { throw cell.error("it has the type \(cell.type) where an array is wanted") }
        let dimensions = try int32()
        _ = try int32()
        let elementType = PostgresType(rawValue: UInt32(bitPattern: try int32()))
        if dimensions == 0 { return [] }
        guard dimensions == 1 else { throw cell.error("its array has \(dimensions) dimensions where one is wanted") }
        let count = try int32()
        _ = try int32()
        guard count >= 0, Int(count) <= rest.count / 4 else { throw cell.error("its array is cut short") }
        var elements: [Element] = []
        elements.reserveCapacity(Int(count))
        for _ in 0..<count {
            let length = Int(try int32())
            guard length <= rest.count else { throw cell.error("its array is cut short") }
            let bytes = length < 0 ? nil : UnsafeRawBufferPointer(rebasing: rest.prefix(length))
            elements.append(try Element(from: cell.element(type: elementType, bytes: bytes)))
            if length > 0 { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(length)) }
        }
        return elements
    }
}
