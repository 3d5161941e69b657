/// Bytes that are written one after the other, in memory that is used again.
///
/// To begin anew costs nothing, and to append is a check of the room and a copy. It is public because nothing else is inlined
/// in other modules.
public struct ByteWriter: Sendable {
    /// The memory; what lies behind the first `count` bytes means nothing.
    @usableFromInline
    var memory: [UInt8] = []

    @usableFromInline
    var length = 0

    /// How many bytes were written.
    @inlinable
    @inline(__always)
    public var count: Int { length }

    /// Nothing is written.
    @inlinable
    public init() {}

    /// Begins anew.
    ///
    /// - Parameter keptCapacity: The most memory that is kept, in bytes.
    @inlinable
    @inline(__always)
    public mutating func removeAll(keptCapacity: Int = .max) {
        length = 0
        if memory.count > keptCapacity { memory = [] }
    }

    /// Takes back the last bytes.
    public mutating func removeLast(_ count: Int) {
        length &-= count
    }

    /// Calls `body` with what was written.
    @inlinable
    @inline(__always)
    public borrowing func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        memory.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Calls `body` with some of what was written.
    @inlinable
    @inline(__always)
    public borrowing func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        memory.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Appends bytes.
    @inlinable
    @inline(__always)
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if memory.count &- count < bytes.count { grow(bytes.count) }
        let end = length
        memory.withUnsafeMutableBytes { memory in
            guard let target = memory.baseAddress, let source = bytes.baseAddress else { return }
            (target + end).copyMemory(from: source, byteCount: bytes.count)
        }
        length &+= bytes.count
    }

    /// Appends bytes.
    @inlinable
    @inline(__always)
    public mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// Appends bytes and one more behind them.
    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer, endingWith last: UInt8) {
        if memory.count &- count <= bytes.count { grow(bytes.count &+ 1) }
        let end = length
        memory.withUnsafeMutableBytes { memory in
            guard let target = memory.baseAddress else { return }
            if let source = bytes.baseAddress { (target + end).copyMemory(from: source, byteCount: bytes.count) }
            memory[end &+ bytes.count] = last
        }
        length &+= bytes.count &+ 1
    }

    /// Appends a literal, which is copied without a call.
    @inlinable
    @inline(__always)
    public mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a text in UTF-8.
    public mutating func append(text: String) {
        text.withBytes { append($0) }
    }

    /// Appends a number that is not negative in decimal digits.
    public mutating func append(decimal number: Int) {
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var start = digits.count
        var rest = UInt(number)
        repeat {
            start &-= 1
            digits[start] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        withUnsafeBytes(of: digits) { append(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }

    @usableFromInline
    @inline(never)
    mutating func grow(_ byteCount: Int) {
        var larger = [UInt8](repeating: 0, count: max(256, 2 * memory.count, count + byteCount))
        larger.replaceSubrange(..<count, with: memory[..<count])
        memory = larger
    }
}
