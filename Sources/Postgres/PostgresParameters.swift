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
        guard encoder.count <= Int(Int32.max) else {
            throw PostgresError(.encoding, "the parameters of a statement are larger than 2 GiB")
        }
    }

    private mutating func append(_ value: (any PostgresEncodable)?) throws(PostgresError) {
        guard let value else {
            offsets.append(nil)
            types.append(PostgresType.unspecified.rawValue)
            lengths.append(0)
            formats.append(0)
            return
        }
        let start = encoder.count
        try value.encode(into: &encoder)
        let type = type(of: value)
        offsets.append(start)
        types.append(type.postgresType.rawValue)
        lengths.append(Int32(truncatingIfNeeded: encoder.count - start))
        formats.append(type.postgresIsText ? 0 : 1)
        if type.postgresIsText { encoder.append(UInt8(0)) }
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
