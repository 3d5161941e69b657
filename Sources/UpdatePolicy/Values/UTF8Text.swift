/// A text that is equal to another, and comes before or after it, by its UTF-8 bytes.
///
/// `String` takes two texts as equal when Unicode calls them canonically equivalent, so that "é" equals "e" with a
/// combining accent. Attributes, bundles and keys must not: PostgreSQL compares them as bytes, and so does this type.
public struct UTF8Text: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The text.
    public let string: String

    /// Takes over a text.
    @inlinable
    public init(_ string: String) {
        self.string = string
    }

    /// Takes over a literal.
    @inlinable
    public init(stringLiteral value: String) {
        self.string = value
    }

    /// Copies a text from bytes, which must be valid UTF-8.
    init(decoding bytes: UnsafeRawBufferPointer) {
        self.string = String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the text has no characters.
    public var isEmpty: Bool { string.isEmpty }

    /// The text.
    public var description: String { string }
}

extension UTF8Text: Hashable {
    /// Whether both texts have the same UTF-8 bytes.
    public static func == (left: UTF8Text, right: UTF8Text) -> Bool {
        left.string.withBytes { leftBytes in
            right.string.withBytes { rightBytes in leftBytes.hasSameBytes(as: rightBytes) }
        }
    }

    /// Feeds the UTF-8 bytes to the hasher.
    public func hash(into hasher: inout Hasher) {
        string.withBytes { hasher.combine(bytes: $0) }
        hasher.combine(0xFF as UInt8)
    }
}

extension UTF8Text: Comparable {
    /// Whether the bytes of one text come before those of the other.
    public static func < (left: UTF8Text, right: UTF8Text) -> Bool {
        left.string.withBytes { leftBytes in
            right.string.withBytes { rightBytes in leftBytes.precedes(rightBytes) }
        }
    }
}

extension UTF8Text {
    /// The text with its ASCII letters made lower-case: what is equal where ASCII case does not count.
    public var lowercasedASCII: UTF8Text {
        UTF8Text(ASCII.lowercased(string))
    }
}
