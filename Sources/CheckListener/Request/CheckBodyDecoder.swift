import NIOCore
import UpdatePolicy

/// Reads the JSON body of a check into a client, in one pass over the bytes.
///
/// Grammar: [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259). Numbers keep the text they were written as, which no
/// general JSON library offers: `1.10` is version 1.10. Strings must be valid UTF-8 without U+0000.
///
/// Texts are handed to the client where they stand in the body; only those with escapes are copied before.
struct CheckBodyDecoder {
    /// The most bytes a body may have.
    static let maximumBodySize = 16_384
    /// How deep objects and arrays may be nested, the outermost object included.
    static let maximumDepth = 32

    /// A string: in the body where it has no escapes, else among those that were copied.
    struct Text {
        let range: Range<Int>
        let isCopied: Bool
    }

    /// The value of a member.
    enum Value {
        case string(Text)
        case number(Range<Int>)
        case boolean(Bool)
        case null
        case composite
    }

    let bytes: UnsafeRawBufferPointer
    var position = 0
    /// Where the body begins among the bytes of the client.
    private let start: Int
    /// The strings with escapes, which are resolved, one after the other.
    var copied: [UInt8] = []

    private init(_ bytes: UnsafeRawBufferPointer, start: Int) {
        self.bytes = bytes
        self.start = start
    }

    /// Reads a whole body.
    ///
    /// - Throws: a fault of status 400 that names the member or the byte that is wrong.
    static func read(_ body: UnsafeRawBufferPointer, into client: inout Client) throws(RequestFault) {
        var decoder = CheckBodyDecoder(body, start: client.append(body).lowerBound)
        try decoder.decodeMembers(into: &client)
    }

    /// Reads a whole body.
    static func read(_ body: ByteBuffer, into client: inout Client) throws(RequestFault) {
        let fault = body.withUnsafeReadableBytes { bytes -> RequestFault? in
            do throws(RequestFault) {
                try read(bytes, into: &client)
                return nil
            } catch {
                return error
            }
        }
        if let fault { throw fault }
    }

    /// Calls `body` with this decoder in memory, which only the unusual needs; all else is read in registers.
    @inline(__always)
    mutating func unusually<Result>(
        _ body: (inout CheckBodyDecoder) throws(RequestFault) -> Result
    ) throws(RequestFault) -> Result {
        var decoder = self
        let result = try body(&decoder)
        self = decoder
        return result
    }

    private mutating func decodeMembers(into client: inout Client) throws(RequestFault) {
        skipWhitespace()
        guard position < bytes.count else {
            throw .badRequest("The body is empty; send a JSON object with at least the member \"bundle\".")
        }
        if bytes[position] != UInt8(ascii: "{"), bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            // The mark that some programs put before UTF-8.
            position = 3
            skipWhitespace()
        }
        guard peek == UInt8(ascii: "{") else {
            throw .badRequest("The body is not a JSON object; send one with at least the member \"bundle\".")
        }
        position &+= 1
        skipWhitespace()
        if peek == UInt8(ascii: "}") {
            position &+= 1
        } else {
            while true {
                skipWhitespace()
                try decodeMember(into: &client)
                skipWhitespace()
                let byte = peek
                guard byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") else {
                    throw unexpected("a comma or the closing brace")
                }
                position &+= 1
                if byte == UInt8(ascii: "}") { break }
            }
        }
        skipWhitespace()
        guard position == bytes.count else {
            throw unexpected("the end of the body")
        }
        do throws(ClientError) {
            try client.validate()
        } catch {
            throw .badRequest("\(error)")
        }
    }

    @inline(__always)
    private mutating func decodeMember(into client: inout Client) throws(RequestFault) {
        let first = position
        if let (name, value) = decodePlainMember() {
            do throws(ClientError) {
                try client.setMember(at: moved(name), to: .text(moved(value)))
            } catch {
                throw fault(error, first)
            }
        } else {
            try unusually { (decoder) throws(RequestFault) in try decoder.decodeUnusualMember(into: &client) }
        }
    }

    /// Reads a member whose name and value are strings of plain ASCII, as nearly all are; another is left unread.
    @inline(__always)
    private mutating func decodePlainMember() -> (name: Range<Int>, value: Range<Int>)? {
        guard peek == UInt8(ascii: "\"") else { return nil }
        let name = position &+ 1
        let nameEnd = bytes.end(of: .plainJSON, from: name)
        guard nameEnd &+ 3 < bytes.count, bytes[nameEnd] == UInt8(ascii: "\""),
            bytes[nameEnd &+ 1] == UInt8(ascii: ":")
        else { return nil }
        let value = bytes[nameEnd &+ 2] == 0x20 ? nameEnd &+ 4 : nameEnd &+ 3
        guard bytes[value &- 1] == UInt8(ascii: "\"") else { return nil }
        let valueEnd = bytes.end(of: .plainJSON, from: value)
        guard valueEnd < bytes.count, bytes[valueEnd] == UInt8(ascii: "\"") else { return nil }
        position = valueEnd &+ 1
        return (Range(uncheckedBounds: (name, nameEnd)), Range(uncheckedBounds: (value, valueEnd)))
    }

    @inline(never)
    private mutating func decodeUnusualMember(into client: inout Client) throws(RequestFault) {
        let first = position
        guard peek == UInt8(ascii: "\"") else {
            throw unexpected("a member's name in double quotes")
        }
        let name = try decodeString()
        skipWhitespace()
        guard peek == UInt8(ascii: ":") else {
            throw unexpected("a colon")
        }
        position += 1
        skipWhitespace()
        let value = try decodeValue()
        do throws(ClientError) {
            try client.setMember(at: range(of: name, in: &client), to: memberRange(of: value, in: &client))
        } catch {
            throw fault(error, first)
        }
    }

    private func fault(_ error: ClientError, _ position: Int) -> RequestFault {
        .badRequest("\(error) (at byte \(position) of the body)")
    }

    /// Where a string is among the bytes of the client.
    private func range(of text: Text, in client: inout Client) -> Range<Int> {
        text.isCopied ? append(text, to: &client) : moved(text.range)
    }

    private func append(_ text: Text, to client: inout Client) -> Range<Int> {
        copied.withUnsafeBytes { client.append(UnsafeRawBufferPointer(rebasing: $0[text.range])) }
    }

    @inline(__always)
    private func moved(_ range: Range<Int>) -> Range<Int> {
        Range(uncheckedBounds: (start &+ range.lowerBound, start &+ range.upperBound))
    }

    /// A value whose text is among the bytes of the client.
    private func memberRange(of value: Value, in client: inout Client) -> MemberRange {
        switch value {
        case .string(let text): .text(range(of: text, in: &client))
        case .number(let number): .number(moved(number))
        case .boolean(let boolean): .boolean(boolean)
        case .null: .null
        case .composite: .composite
        }
    }

    // MARK: Single bytes

    @inline(__always)
    var peek: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    @inline(__always)
    mutating func skipWhitespace() {
        while position < bytes.count, bytes[position] <= 0x20 {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position &+= 1
            default: return
            }
        }
    }

    func fault(_ what: String) -> RequestFault {
        .badRequest("The body is not acceptable JSON: \(what) (at byte \(position) of the body).")
    }

    func unexpected(_ wanted: String) -> RequestFault {
        position < bytes.count
            ? .badRequest("The body is not JSON: \(wanted) is missing at byte \(position).")
            : .badRequest("The body is not JSON: it ends where \(wanted) should stand.")
    }
}
