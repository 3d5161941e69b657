/// Where the end of a chunked body is, which the parser does not tell.
///
/// It follows the framing alone; what is wrong with a body is left to the parser to say.
///
/// Source: [RFC 9112, 7.1](https://www.rfc-editor.org/rfc/rfc9112#section-7.1).
struct ChunkedBody {
    private enum Place {
        /// In the digits of a chunk's size.
        case size(Int)
        /// Behind the size, in the rest of its line.
        case sizeLine(Int)
        /// In the content of a chunk; so many bytes are left.
        case content(Int)
        /// In the end of the line behind the content.
        case contentEnd
        /// In a line behind the last chunk, which ends the body where it is empty.
        case trailer(isEmpty: Bool)
        /// Behind the body.
        case end
    }

    private var place = Place.size(0)

    /// Goes on over bytes of the body.
    ///
    /// - Returns: How many of them belong to it: all, but where it ends.
    mutating func advance(over bytes: UnsafeRawBufferPointer) -> Int {
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            switch place {
            case .size(let size):
                if let digit = byte.hexadecimalDigit {
                    place = .size(size &<< 4 | Int(digit))
                } else {
                    place = byte == 0x0A ? Self.afterSize(size) : .sizeLine(size)
                }
                position += 1
            case .sizeLine(let size):
                if byte == 0x0A { place = Self.afterSize(size) }
                position += 1
            case .content(let remaining):
                let count = min(remaining, bytes.count - position)
                place = count == remaining ? .contentEnd : .content(remaining - count)
                position += count
            case .contentEnd:
                if byte == 0x0A { place = .size(0) }
                position += 1
            case .trailer(let isEmpty):
                if byte == 0x0A {
                    place = isEmpty ? .end : .trailer(isEmpty: true)
                } else if byte != 0x0D {
                    place = .trailer(isEmpty: false)
                }
                position += 1
            case .end:
                return position
            }
        }
        return position
    }

    private static func afterSize(_ size: Int) -> Place {
        size > 0 ? .content(size) : .trailer(isEmpty: true)
    }
}
