/// A text that is equal to another, and comes before or after it, by its UTF-8 bytes.
///
/// `String` takes two texts as equal when Unicode calls them canonically equivalent, so that "é" equals "e" with a
/// combining accent. Attributes, bundles and keys must not: PostgreSQL compares them as bytes, and so does this type.
package struct UTF8Text: Sendable, Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let string: String

    package init(_ string: String) {
        self.string = string
    }

    package init(stringLiteral value: String) {
        self.string = value
    }

    /// Copies a text from bytes, which must be valid UTF-8.
    init(decoding bytes: UnsafeRawBufferPointer) {
        self.string = String(decoding: bytes, as: UTF8.self)
    }

    package var isEmpty: Bool { string.isEmpty }
    package var description: String { string }

    package static func == (left: UTF8Text, right: UTF8Text) -> Bool {
        left.string.withBytes { leftBytes in
            right.string.withBytes { rightBytes in leftBytes.hasSameBytes(as: rightBytes) }
        }
    }

    package func hash(into hasher: inout Hasher) {
        string.withBytes { hasher.combine(bytes: $0) }
        hasher.combine(0xFF as UInt8)
    }

    package static func < (left: UTF8Text, right: UTF8Text) -> Bool {
        left.string.withBytes { leftBytes in
            right.string.withBytes { rightBytes in leftBytes.precedes(rightBytes) }
        }
    }

    /// The text with its ASCII letters made lower-case: what is equal where ASCII case does not count.
    package var lowercasedASCII: UTF8Text { UTF8Text(ASCII.lowercased(string)) }
}
