/// A version key in the making: numbers are appended first, then the identifiers of a pre-release.
struct VersionKeyBuilder {
    /// The first 16 bytes, as far as there are any; the last one is the lowest.
    private var head: UInt128 = 0
    private var tail: [UInt8]?
    private var count = 0
    private var pendingZeros = 0
    private(set) var isPrerelease = false

    private static let headLength = 16

    @inline(__always)
    private mutating func append(_ byte: UInt8) {
        if count < Self.headLength {
            head = head << 8 | UInt128(byte)
        } else {
            if tail == nil { tail = [] }
            tail?.append(byte)
        }
        count &+= 1
    }

    @inline(__always)
    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes { append(byte) }
    }

    /// Appends a number given by its digits, leading zeros included.
    @inline(__always)
    mutating func appendNumber(_ digits: UnsafeRawBufferPointer) {
        var start = 0
        while start < digits.count, digits[start] == ASCII.zero { start &+= 1 }
        if start == digits.count {
            pendingZeros &+= 1
            return
        }
        while pendingZeros > 0 {
            append(2)
            pendingZeros &-= 1
        }
        append(2 &+ UInt8(truncatingIfNeeded: digits.count &- start))
        append(UnsafeRawBufferPointer(rebasing: digits[start...]))
    }

    mutating func appendNumber(_ digits: [UInt8]) {
        digits.withUnsafeBytes { appendNumber($0) }
    }

    /// Appends an identifier of a pre-release: a number where all of it is digits, else a text.
    mutating func appendIdentifier(_ identifier: UnsafeRawBufferPointer) {
        if !isPrerelease {
            isPrerelease = true
            append(0)
        }
        if identifier.allSatisfy(ASCII.isDigit) {
            let significant = UnsafeRawBufferPointer(rebasing: identifier.drop { $0 == ASCII.zero })
            append(1)
            append(UInt8(truncatingIfNeeded: significant.count))
            append(significant)
        } else {
            append(2)
            append(identifier)
            append(0)
        }
    }

    private mutating func appendIdentifierZero() {
        "0".withBytes { appendIdentifier($0) }
    }

    @inline(__always)
    var key: VersionKey {
        var builder = self
        builder.append(isPrerelease ? 0 : 1)
        return builder.finished
    }

    /// The least key above that of the version: of a pre-release p it is p.0, of a release no version has it.
    var keyAbove: VersionKey {
        var builder = self
        if isPrerelease {
            builder.appendIdentifierZero()
            builder.append(0)
        } else {
            builder.append(1)
            builder.append(1)
        }
        return builder.finished
    }

    /// The key of the first pre-release of these numbers, `-0`: where their family begins.
    var familyKey: VersionKey {
        var builder = self
        builder.appendIdentifierZero()
        return builder.key
    }

    @inline(__always)
    private var finished: VersionKey {
        let missing = count < Self.headLength ? Self.headLength &- count : 0
        let head = missing == 0 ? head : head << UInt128(8 &* missing)
        let (high, low) = (UInt64(truncatingIfNeeded: head >> 64), UInt64(truncatingIfNeeded: head))
        return VersionKey(high: high, low: low, tail: tail)
    }
}
