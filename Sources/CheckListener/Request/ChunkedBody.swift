/// A body in chunks, as far as it was read, with its content.
///
/// Source: [RFC 9112, 7.1](https://www.rfc-editor.org/rfc/rfc9112#section-7.1).
struct ChunkedBody {
    /// What stands next.
    private enum Place {
        /// The first digit of a chunk's size, or another one.
        case size, moreSize
        /// The name of an extension, or its value: the first character, or another one.
        case name, moreName, value, moreValue
        /// A value in quotes, and what is behind it.
        case quoted, behindQuoted
        /// The line feed behind the size and its extensions.
        case sizeEnd
        case content
        /// The end of the line behind the content.
        case contentEnd, contentLineFeed
        case trailers
    }

    /// How many bytes of a body may be chunk sizes, extensions and trailers.
    ///
    /// A chunk has at least five, so there are at most about 200 chunks: each costs about as much as a short request.
    private static let maximumOverhead = 1_024
    private static let maximumTrailers = 100

    /// The fault of a body that carries too much besides its content.
    static let overheadFault = RequestFault.badRequest(
        "The chunked body has too many chunks, extensions or trailers; send Content-Length or larger chunks."
    )

    /// The content that was read.
    private(set) var content: [UInt8] = []
    /// How many bytes were read, of the body and from its start.
    private(set) var length = 0
    /// Whether there is more content than is read.
    private(set) var isContentTooLarge = false
    private var place = Place.size
    /// The size of a chunk; in its content, how much of that is left.
    private var size = 0
    private var overhead = 0
    private var trailers = FieldSection()

    /// Reads on.
    ///
    /// - Parameter start: Where the body begins.
    mutating func read(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Progress {
        while true {
            switch place {
            case .trailers: return readTrailers(bytes, from: start)
            case .content:
                let count = min(size, bytes.count - start - length)
                content += bytes[(start + length)..<(start + length + count)]
                length += count
                size -= count
                if size > 0 { return .incomplete }
                place = .contentEnd
            default:
                guard start + length < bytes.count else { return .incomplete }
                overhead += 1
                guard overhead <= Self.maximumOverhead else { return .tooLarge }
                guard let next = next(bytes[start + length]) else { return .malformed }
                place = next
                length += 1
                if case .content = place, content.count + size > CheckBodyDecoder.maximumBodySize {
                    isContentTooLarge = true
                    return .tooLarge
                }
            }
        }
    }

    /// What stands behind a byte; nil where the byte may not stand there.
    private mutating func next(_ byte: UInt8) -> Place? {
        switch (place, byte) {
        case (.size, _):
            size = 0
            return readDigit(byte)
        case (.moreSize, _) where byte.hexadecimalDigit != nil: return readDigit(byte)
        case (.moreName, UInt8(ascii: "=")): return .value
        case (.moreSize, UInt8(ascii: ";")), (.moreName, UInt8(ascii: ";")), (.moreValue, UInt8(ascii: ";")),
            (.behindQuoted, UInt8(ascii: ";")):
            return .name
        case (.moreSize, 0x0D), (.moreName, 0x0D), (.moreValue, 0x0D), (.behindQuoted, 0x0D): return .sizeEnd
        case (.name, _), (.moreName, _): return ByteSet.token.contains(byte) ? .moreName : nil
        case (.value, UInt8(ascii: "\"")): return .quoted
        case (.value, _), (.moreValue, _): return ByteSet.token.contains(byte) ? .moreValue : nil
        case (.quoted, UInt8(ascii: "\"")): return .behindQuoted
        case (.quoted, 0x20...0x7E): return byte == UInt8(ascii: "\\") ? nil : .quoted
        case (.sizeEnd, 0x0A): return size == 0 ? .trailers : .content
        case (.contentEnd, 0x0D): return .contentLineFeed
        case (.contentLineFeed, 0x0A): return .size
        default: return nil
        }
    }

    private mutating func readDigit(_ byte: UInt8) -> Place? {
        guard let digit = byte.hexadecimalDigit, size < 1 << 59 else { return nil }
        size = size << 4 | Int(digit)
        return .moreSize
    }

    /// Reads the trailers; none may say what the header fields say, or should have said.
    private mutating func readTrailers(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Progress {
        if trailers.position == 0 { trailers = FieldSection(at: start + length, size: overhead) }
        let progress = trailers.read(bytes, maximumSize: Self.maximumOverhead, maximumCount: Self.maximumTrailers)
        guard progress == .whole else { return progress }
        length = trailers.position - start
        return trailers.meaning == RequestFields() ? .whole : .malformed
    }
}
