import UpdatePolicy

/// The header fields of a request, or the trailer fields of a chunked body, as far as they were read.
///
/// Source: [RFC 9112, 5](https://www.rfc-editor.org/rfc/rfc9112#section-5).
struct FieldSection {
    /// What the fields say that this server goes by.
    private(set) var meaning = RequestFields()
    /// Where the next field begins; in the end, what is behind the section.
    private(set) var position = 0
    private var start = 0
    private var count = 0
    private var size = 0

    /// A section that begins at a position.
    ///
    /// - Parameter size: How many bytes count towards the most that the section may have, beside its own.
    init(at position: Int = 0, size: Int = 0) {
        (start, self.position, self.size) = (position, position, size)
    }

    /// Reads on, up to the empty line behind the fields.
    ///
    /// - Parameters:
    ///   - maximumSize: The most bytes of names and values, the blanks round them included.
    ///   - maximumCount: The most fields.
    @inline(__always)
    mutating func read(_ bytes: UnsafeRawBufferPointer, maximumSize: Int, maximumCount: Int) -> Progress {
        while position < bytes.count {
            if bytes[position] == 0x0D {
                guard position &+ 1 < bytes.count else { return .incomplete }
                position &+= 2
                return bytes[position &- 1] == 0x0A ? .whole : .malformed
            }
            guard count < maximumCount else { return .tooLarge }
            let progress = readField(bytes, maximumSize)
            guard progress == .whole else { return progress }
        }
        return .incomplete
    }

    @inline(__always)
    private mutating func readField(_ bytes: UnsafeRawBufferPointer, _ maximumSize: Int) -> Progress {
        let nameEnd = Self.endOfName(bytes, from: position)
        if nameEnd == bytes.count { return size &+ nameEnd &- position > maximumSize ? .tooLarge : .incomplete }
        if bytes[nameEnd] != UInt8(ascii: ":") || nameEnd == position {
            return size &+ nameEnd &- position > maximumSize ? .tooLarge : .malformed
        }
        let valueEnd = Self.endOfValue(bytes, from: nameEnd &+ 1)
        let fieldSize = size &+ valueEnd &- position &- 1
        if fieldSize > maximumSize { return .tooLarge }
        guard valueEnd &+ 1 < bytes.count else {
            return valueEnd < bytes.count && bytes[valueEnd] != 0x0D ? .malformed : .incomplete
        }
        guard bytes[valueEnd] == 0x0D, bytes[valueEnd &+ 1] == 0x0A else { return .malformed }
        let valueStart = Self.startOfValue(bytes, from: nameEnd &+ 1, to: valueEnd)
        meaning.take(bytes.part(position, nameEnd), bytes.part(valueStart, valueEnd))
        position = valueEnd &+ 2
        size = fieldSize
        count &+= 1
        return .whole
    }

    /// The values of the fields of a name in lower case, in a section that was read.
    func values(of name: StaticString, in bytes: UnsafeRawBufferPointer) -> [String] {
        var values: [String] = []
        var fieldStart = start
        while fieldStart + 2 < position {
            let nameEnd = Self.endOfName(bytes, from: fieldStart)
            let valueEnd = Self.endOfValue(bytes, from: nameEnd + 1)
            if bytes.part(fieldStart, nameEnd).isToken(name) {
                values.append(String(decoding: bytes[(nameEnd + 1)..<valueEnd].trimmingBlanks, as: UTF8.self))
            }
            fieldStart = valueEnd + 2
        }
        return values
    }

    @inline(__always)
    private static func endOfName(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var end = bytes.end(of: .name, from: start)
        while end < bytes.count, ByteSet.token.contains(bytes[end]) { end &+= 1 }
        return end
    }

    /// Where a value ends: blanks, visible ASCII characters, and what is above ASCII.
    @inline(__always)
    private static func endOfValue(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var end = bytes.end(of: .fieldValue, from: start)
        while end < bytes.count, bytes[end] == 0x09 || bytes[end] >= 0x80 {
            end = bytes.end(of: .fieldValue, from: end &+ 1)
        }
        return end
    }

    @inline(__always)
    private static func startOfValue(_ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int {
        var start = start
        while start < end, bytes[start] == 0x20 || bytes[start] == 0x09 { start &+= 1 }
        return start
    }
}
