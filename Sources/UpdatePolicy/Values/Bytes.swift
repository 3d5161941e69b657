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
    @inlinable
    @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) {
            return result
        }
        var native = self
        return native.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
