import Foundation

/// A value of JSON as in RFC 8259, nested at most 512 deep. Of members of one name the last counts.
///
/// `JSONDecoder` takes other encodings than UTF-8, takes the first of two members, and refuses a whole text for one
/// surrogate that stands alone. Each system has its own answers to that, and the other libraries have others.
enum JSONValue: Sendable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    /// A string with a surrogate that stands alone, which is no text.
    case brokenString
    case array([JSONValue])
    case object([String: JSONValue])

    /// Reads a text; nil if it is no JSON, or not in UTF-8.
    init?(_ text: some Sequence<UInt8>) {
        let bytes = Array(text)
        // Foundation leaves out a byte order mark, which is no JSON.
        guard !bytes.starts(with: Self.byteOrderMark), String(bytes: bytes, encoding: .utf8) != nil else { return nil }
        var reader = JSONReader(bytes: bytes)
        guard let value = try? reader.value(depth: 0), reader.isAtEnd else { return nil }
        self = value
    }

    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    var boolean: Bool? {
        if case .boolean(let boolean) = self { boolean } else { nil }
    }

    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    var object: JSONObject? {
        if case .object(let members) = self { JSONObject(members: members) } else { nil }
    }

    /// A whole number in any way of writing it, from 0 to 2^53 - 1.
    var wholeNumber: Int? {
        guard case .number(let number) = self, let whole = Int(exactly: number) else { return nil }
        return (0...MessageContent.greatestNumber).contains(whole) ? whole : nil
    }

    /// A whole number from 1.
    var count: Int? { wholeNumber.flatMap { $0 > 0 ? $0 : nil } }
}
