/// The reader of a version's text.
///
///     version = [v] number *("." number) [pre-release] [suffix]
///     pre-release = "-" identifier *("." identifier) / [space] 1*letter *digit
///     suffix = "+" 1*(letter / digit / "." / "-") / [space] "(" *printable ")"
enum VersionScanner {
    /// The most bytes a version may have, blanks at its ends not counted.
    static let maximumLength = 128

    /// Reads a version, blanks at its ends allowed; `nil` where it cannot be read.
    static func key(of bytes: UnsafeRawBufferPointer) -> VersionKey? {
        if let key = shortKey(of: bytes) { return key }
        let (start, end) = bounds(of: bytes)
        guard end &- start <= maximumLength else { return nil }

        var builder = VersionKeyBuilder()
        guard var position = scanNumbers(bytes, start, end, &builder) else { return nil }
        if position < end {
            guard let next = scanPrerelease(bytes, position, end, &builder) else { return nil }
            position = next
            guard position == end || isSuffix(bytes, position, end) else { return nil }
        }
        return builder.key
    }

    /// The key of a version of at most 8 digits and dots, as nearly every one is; `nil` for any other.
    ///
    /// Its bytes fit into one number, so a third of the instructions is enough.
    @inline(__always)
    private static func shortKey(of bytes: UnsafeRawBufferPointer) -> VersionKey? {
        guard bytes.count <= 8 else { return nil }
        var key: UInt128 = 0
        var length = 0
        var pendingZeros = 0
        var position = 0
        while true {
            let first = position
            while position < bytes.count, bytes[position] == ASCII.zero { position &+= 1 }
            let significant = position
            var digits: UInt64 = 0
            while position < bytes.count, ASCII.isDigit(bytes[position]) {
                digits = digits &<< 8 | UInt64(bytes[position])
                position &+= 1
            }
            if position == first { return nil }
            let digitCount = position &- significant
            if digitCount == 0 {
                pendingZeros &+= 1
            } else {
                while pendingZeros > 0 {
                    key = key &<< 8 | 2
                    length &+= 1
                    pendingZeros &-= 1
                }
                key = key &<< 8 | UInt128(truncatingIfNeeded: 2 &+ digitCount)
                key = key &<< UInt128(truncatingIfNeeded: 8 &* digitCount) | UInt128(digits)
                length &+= 1 &+ digitCount
            }
            if position == bytes.count { break }
            guard bytes[position] == ASCII.dot else { return nil }
            position &+= 1
        }
        key = (key &<< 8 | 1) &<< UInt128(truncatingIfNeeded: 8 &* (15 &- length))
        return VersionKey(high: UInt64(truncatingIfNeeded: key &>> 64), low: UInt64(truncatingIfNeeded: key), tail: nil)
    }

    /// A version's text without the blanks at its ends.
    @inline(__always)
    static func withoutBlanks(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let (start, end) = bounds(of: bytes)
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    @inline(__always)
    private static func bounds(of bytes: UnsafeRawBufferPointer) -> (start: Int, end: Int) {
        var start = 0
        var end = bytes.count
        while start < end, ASCII.isBlank(bytes[start]) { start &+= 1 }
        while start < end, ASCII.isBlank(bytes[end &- 1]) { end &-= 1 }
        return (start, end)
    }

    @inline(__always)
    private static func scanNumbers(
        _ bytes: UnsafeRawBufferPointer,
        _ start: Int,
        _ end: Int,
        _ builder: inout VersionKeyBuilder
    ) -> Int? {
        var position = start
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "v") { position &+= 1 }
        while true {
            let first = position
            while position < end, ASCII.isDigit(bytes[position]) { position &+= 1 }
            guard position > first else { return nil }
            builder.appendNumber(UnsafeRawBufferPointer(rebasing: bytes[first..<position]))
            guard position < end, bytes[position] == ASCII.dot else { return position }
            position &+= 1
        }
    }

    /// Reads a pre-release, up to the first character that it cannot have; where there is none, nothing is read.
    static func scanPrerelease(
        _ bytes: UnsafeRawBufferPointer,
        _ start: Int,
        _ end: Int,
        _ builder: inout VersionKeyBuilder
    ) -> Int? {
        if bytes[start] == ASCII.hyphen {
            return scanIdentifiers(bytes, start + 1, end, &builder)
        }
        let letters = bytes[start] == ASCII.space ? start + 1 : start
        var position = letters
        while position < end, ASCII.isLetter(bytes[position]) { position += 1 }
        guard position > letters else { return start }
        builder.appendIdentifier(UnsafeRawBufferPointer(rebasing: bytes[letters..<position]))
        let digits = position
        while position < end, ASCII.isDigit(bytes[position]) { position += 1 }
        if position > digits { builder.appendIdentifier(UnsafeRawBufferPointer(rebasing: bytes[digits..<position])) }
        return position
    }

    /// Reads identifiers joined by dots, up to the first character that none can have.
    static func scanIdentifiers(
        _ bytes: UnsafeRawBufferPointer,
        _ start: Int,
        _ end: Int,
        _ builder: inout VersionKeyBuilder
    ) -> Int? {
        var position = start
        while true {
            let first = position
            while position < end, isIdentifierCharacter(bytes[position]) { position += 1 }
            guard position > first else { return nil }
            builder.appendIdentifier(UnsafeRawBufferPointer(rebasing: bytes[first..<position]))
            guard position < end, bytes[position] == ASCII.dot else { return position }
            position += 1
        }
    }

    private static func isIdentifierCharacter(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || ASCII.isLetter(byte) || byte == ASCII.hyphen
    }

    private static func isSuffix(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> Bool {
        if bytes[start] == ASCII.plus {
            let metadata = bytes[(start + 1)..<end]
            return !metadata.isEmpty && metadata.allSatisfy { isIdentifierCharacter($0) || $0 == ASCII.dot }
        }
        let opening = bytes[start] == ASCII.space ? start + 1 : start
        guard opening + 1 < end, bytes[opening] == ASCII.openParenthesis,
            bytes[end - 1] == ASCII.closeParenthesis
        else { return false }
        return bytes[(opening + 1)..<(end - 1)].allSatisfy {
            (0x20...0x7E).contains($0) && $0 != ASCII.openParenthesis && $0 != ASCII.closeParenthesis
        }
    }
}
