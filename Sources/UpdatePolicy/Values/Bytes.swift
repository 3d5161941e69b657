extension UnsafeRawBufferPointer {
    /// Whether both hold the same bytes.
    @inline(__always)
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var offset = 0
        while offset &+ 8 <= count {
            let left = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let right = other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if left != right { return false }
            offset &+= 8
        }
        while offset < count {
            if self[offset] != other[offset] { return false }
            offset &+= 1
        }
        return true
    }

    /// Whether these bytes come before the others, compared as unsigned numbers from the first on.
    func precedes(_ other: UnsafeRawBufferPointer) -> Bool {
        let common = Swift.min(count, other.count)
        var offset = 0
        while offset < common {
            if self[offset] != other[offset] { return self[offset] < other[offset] }
            offset &+= 1
        }
        return count < other.count
    }
}

extension String {
    /// Calls `body` with the UTF-8 bytes of the string, without copying them where they are stored as such.
    @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) {
            return result
        }
        var native = self
        return native.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}

extension [UInt8] {
    /// Appends a text in which some characters are replaced.
    ///
    /// - Parameter replacement: What stands for the character at a position, and its length in bytes; `nil`: it stays.
    @inline(__always)
    mutating func append(
        _ text: String,
        replacing replacement: (UnsafeRawBufferPointer, Int) -> (length: Int, text: String)?
    ) {
        text.withBytes { text in
            var start = 0
            for position in text.indices {
                guard let (length, replacement) = replacement(text, position) else { continue }
                append(contentsOf: text[start..<position])
                append(contentsOf: replacement.utf8)
                start = position + length
            }
            append(contentsOf: text[start...])
        }
    }
}
