/// A set of ASCII characters, a bit for each.
struct ByteSet: Sendable {
    private let low: UInt64
    private let high: UInt64

    /// The set of the characters below 0x40, and of those from there on, by the bits of two words.
    @inline(__always)
    init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// The characters of a token ([RFC 9110, 5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2)):
    /// ! # $ % & ' * + - . ^ _ ` | ~, digits and letters.
    static var token: ByteSet {
        @inline(__always) get { ByteSet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }
    }

    /// Whether a byte is in the set.
    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let word = byte & 0x40 == 0 ? low : high
        return byte < 0x80 && word &>> UInt64(byte & 0x3F) & 1 != 0
    }
}

extension UInt8 {
    /// The value of this byte as a hexadecimal digit in ASCII; nil if it is none.
    var hexadecimalDigit: UInt8? {
        let digit = self &- UInt8(ascii: "0")
        if digit < 10 { return digit }
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// These bytes without the spaces and tabs at both ends.
    var trimmingBlanks: Self {
        var rest = self
        while rest.first == 0x20 || rest.first == 0x09 { rest.removeFirst() }
        while rest.last == 0x20 || rest.last == 0x09 { rest.removeLast() }
        return rest
    }
}

extension UnsafeRawBufferPointer {
    /// Some of these bytes.
    @inline(__always)
    func part(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[Range(uncheckedBounds: (start, end))])
    }

    /// Some of these bytes as text.
    func text(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }

    /// Whether these bytes begin with those of a text.
    @inline(__always)
    func starts(with text: StaticString) -> Bool { starts(with: text, setting: 0) }

    /// Whether these bytes are a token in lower case, when the case of their ASCII letters is left out.
    ///
    /// The bytes must be those of a token, and the other letters and hyphens: then no other character becomes one of these
    /// when its bit of case is set.
    @inline(__always)
    func isToken(_ lowercased: StaticString) -> Bool {
        count == lowercased.utf8CodeUnitCount && starts(with: lowercased, setting: 0x20)
    }

    /// Whether these bytes begin with those of a text, once some bits of each are set.
    @inline(__always)
    private func starts(with text: StaticString, setting bits: UInt8) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= length else { return false }
        let other = UnsafeRawPointer(text.utf8Start)
        var offset = 0
        while offset &+ 8 <= length {
            let word = loadUnaligned(fromByteOffset: offset, as: UInt64.self) | UInt64(bits) &* 0x0101_0101_0101_0101
            if word != other.loadUnaligned(fromByteOffset: offset, as: UInt64.self) { return false }
            offset &+= 8
        }
        while offset < length {
            if self[offset] | bits != other.load(fromByteOffset: offset, as: UInt8.self) { return false }
            offset &+= 1
        }
        return true
    }

    /// Whether any bytes are a word in lower case, when the case of their ASCII letters is left out.
    func isWord(_ lowercased: StaticString) -> Bool {
        guard count == lowercased.utf8CodeUnitCount else { return false }
        for offset in 0..<count {
            let isUpper = self[offset] &- UInt8(ascii: "A") < 26
            guard (isUpper ? self[offset] | 0x20 : self[offset]) == lowercased.utf8Start[offset] else { return false }
        }
        return true
    }
}

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
