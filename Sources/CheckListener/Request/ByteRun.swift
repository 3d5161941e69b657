/// A set of characters, of which the end of a run is found 8 bytes at a time.
///
/// The highest bit of each byte of a word marks one that is not in the set. Of those marked the lowest is right, since only
/// a marked byte borrows from the next. Zero is in no set.
enum ByteRun {
    /// What stands in a JSON string for itself: ASCII without control characters, `"` and `\`.
    case plainJSON
    /// What a header field's value is made of: blanks and visible ASCII characters.
    case fieldValue
    /// What names are made of: ASCII letters, digits, hyphens and dots.
    case name

    private static let everyByte: UInt64 = 0x0101_0101_0101_0101

    @inline(__always)
    fileprivate func others(in word: UInt64) -> UInt64 {
        let marks =
            switch self {
            case .plainJSON:
                Self.below(0x20, word) | Self.equal(UInt8(ascii: "\""), word) | Self.equal(UInt8(ascii: "\\"), word)
            case .fieldValue: Self.below(0x20, word) | Self.equal(0x7F, word)
            case .name: ~Self.isName(word & (0x7F &* Self.everyByte))
            }
        return (word | marks) & (0x80 &* Self.everyByte)
    }

    @inline(__always)
    private static func below(_ byte: UInt8, _ word: UInt64) -> UInt64 {
        word &- UInt64(byte) &* everyByte
    }

    @inline(__always)
    private static func equal(_ byte: UInt8, _ word: UInt64) -> UInt64 {
        (word ^ UInt64(byte) &* everyByte) &- everyByte
    }

    @inline(__always)
    private static func isName(_ word: UInt64) -> UInt64 {
        let isLetter = isIn(UInt8(ascii: "a")...UInt8(ascii: "z"), word | 0x20 &* everyByte)
        return isLetter | isIn(UInt8(ascii: "0")...UInt8(ascii: "9"), word)
            | isIn(UInt8(ascii: "-")...UInt8(ascii: "."), word)
    }

    /// Marks the bytes in a range, of a word of ASCII.
    @inline(__always)
    private static func isIn(_ range: ClosedRange<UInt8>, _ word: UInt64) -> UInt64 {
        let isAtLeast = word &+ UInt64(0x80 &- range.lowerBound) &* everyByte
        let isBeyond = word &+ UInt64(0x7F &- range.upperBound) &* everyByte
        return isAtLeast & ~isBeyond
    }
}

extension UnsafeRawBufferPointer {
    /// Where a run of bytes that begins at `start` ends, at the latest behind the last byte.
    @inline(__always)
    func end(of run: ByteRun, from start: Int) -> Int {
        var end = start
        while end &+ 8 <= count {
            let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: end, as: UInt64.self))
            let others = run.others(in: word)
            if others != 0 { return end &+ others.trailingZeroBitCount >> 3 }
            end &+= 8
        }
        var word: UInt64 = 0
        for offset in stride(from: count &- 1, through: end, by: -1) { word = word << 8 | UInt64(self[offset]) }
        return end &+ run.others(in: word).trailingZeroBitCount >> 3
    }
}
