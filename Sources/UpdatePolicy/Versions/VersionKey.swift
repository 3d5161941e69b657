/// The bytes whose order is the order of versions.
///
/// For each number a byte 2 + D, D being its count of significant digits (0 for zero), then the D digits; zeros at the
/// end are dropped. Then 1 for a release; for a pre-release 0 and, for each identifier, 1, D and the digits where it is
/// a number, or 2, the characters and 0 where it is not; then 0.
///
/// No key is the beginning of another, so keys may be padded with zero bytes and compared as big-endian words; the 16
/// bytes held in place suffice for nearly every version. The key of a release with a byte 1 added lies between that
/// release and everything above it, which makes it a bound for ranges.
struct VersionKey: Sendable, Hashable {
    let high: UInt64
    let low: UInt64
    let tail: [UInt8]?

    /// The key of `0-0`: no version is below it.
    static let minimum = VersionKey(high: 0x0001_0000_0000_0000, low: 0, tail: nil)

    /// A key above that of every version.
    static let maximum = VersionKey(high: .max, low: .max, tail: nil)

    /// The byte at an offset; 0 behind the end.
    subscript(offset: Int) -> UInt8 {
        if offset < 8 { return UInt8(truncatingIfNeeded: high >> UInt64(56 - 8 * offset)) }
        if offset < 16 { return UInt8(truncatingIfNeeded: low >> UInt64(120 - 8 * offset)) }
        guard let tail, offset - 16 < tail.count else { return 0 }
        return tail[offset - 16]
    }
}

extension VersionKey: Comparable {
    @inline(__always)
    static func < (left: VersionKey, right: VersionKey) -> Bool {
        if left.high != right.high { return left.high < right.high }
        if left.low != right.low { return left.low < right.low }
        if left.tail == nil && right.tail == nil { return false }
        return tailPrecedes(left, right)
    }

    @inline(never)
    private static func tailPrecedes(_ left: VersionKey, _ right: VersionKey) -> Bool {
        (left.tail ?? []).lexicographicallyPrecedes(right.tail ?? [])
    }
}
