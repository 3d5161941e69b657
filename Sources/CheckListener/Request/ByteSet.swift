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

    /// Whether a byte is in the set.
    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let word = byte & 0x40 == 0 ? low : high
        return byte < 0x80 && word &>> UInt64(byte & 0x3F) & 1 != 0
    }
}
