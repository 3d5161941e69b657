/// A fast hash over bytes, for tables whose keys the policy chooses.
///
/// Each word of 8 bytes is multiplied to 128 bits whose halves are folded. The seed is a secret of the compiled policy,
/// so that whoever writes rules cannot choose values that collide. Never use it for a table whose keys clients choose.
struct ByteHash {
    private(set) var value: UInt64

    /// How many words were mixed in: what the hash has cost. The optimizer removes it where nobody reads it.
    private(set) var steps = 0

    init(seed: UInt64) {
        value = seed
    }

    @inline(__always)
    private mutating func combine(_ word: UInt64) {
        steps &+= 1
        let product = (value ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        value = product.high ^ product.low
    }

    @inline(__always)
    mutating func combine(_ number: UInt16) {
        combine(UInt64(number))
    }

    @inline(__always)
    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        combine(bytes) { $0 }
    }

    /// Mixes in bytes and their count, upper-case ASCII letters as lower-case ones.
    @inline(__always)
    mutating func combineIgnoringCase(_ bytes: UnsafeRawBufferPointer) {
        combine(bytes, Self.lowercased)
    }

    @inline(__always)
    private mutating func combine(_ bytes: UnsafeRawBufferPointer, _ transform: (UInt64) -> UInt64) {
        var offset = 0
        while offset &+ 8 <= bytes.count {
            combine(transform(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset &+= 8
        }
        var word: UInt64 = 0
        while offset < bytes.count {
            word = word << 8 | UInt64(bytes[offset])
            offset &+= 1
        }
        combine(transform(word))
        combine(UInt64(bytes.count))
    }

    /// Eight bytes with upper-case ASCII letters made lower-case, at once: adding makes the highest bit of a byte tell whether it is at least `A`, and beyond `Z`.
    @inline(__always)
    static func lowercased(_ word: UInt64) -> UInt64 {
        let everyByte: UInt64 = 0x0101_0101_0101_0101
        let lowBits = word & (0x7F &* everyByte)
        let isAtLeastA = lowBits &+ (0x80 - 0x41) &* everyByte
        let isBeyondZ = lowBits &+ (0x80 - 0x5B) &* everyByte
        let isUpper = isAtLeastA & ~isBeyondZ & ~word & (0x80 &* everyByte)
        return word | isUpper >> 2
    }
}
