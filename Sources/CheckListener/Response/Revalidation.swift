import Glibc
import UpdatePolicy

/// The name of an answer by its content, by which a cache asks whether the one it keeps still holds.
///
/// A strong validator: half of the SHA-256 of the bytes of the answer. It is never made from the revision, because the
/// clock changes answers too, and most edits leave most answers as they were.
///
/// Source: [RFC 9110, 8.8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3).
struct EntityTag: Hashable {
    /// The tag as it stands in a header, with its quotes.
    let text: String

    /// Names an answer.
    ///
    /// - Parameter input: What its signature says of itself: a cache replaces an answer that is signed anew.
    init(of body: UnsafeRawBufferPointer, signedAs input: String? = nil) {
        var hash = SHA256()
        hash.update(bufferPointer: body)
        if let input { hash.update(data: input.utf8) }
        let digest = hash.finalize()
        text = String(unsafeUninitializedCapacity: 34) { text in
            text[0] = UInt8(ascii: "\"")
            var end = 1
            digest.withUnsafeBytes { bytes in
                for byte in bytes.prefix(16) {
                    text[end] = Self.digit(byte >> 4)
                    text[end + 1] = Self.digit(byte & 0xF)
                    end += 2
                }
            }
            text[end] = UInt8(ascii: "\"")
            return end + 1
        }
    }

    private static func digit(_ number: UInt8) -> UInt8 {
        number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "a") - 10 + number
    }
}

/// The answers that a client or a cache has already, as the header field `If-None-Match` names them.
///
/// Source: [RFC 9110, 13.1.2](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2).
struct IfNoneMatch: Hashable {
    let values: [String]

    init(_ values: [String]) {
        self.values = values
    }

    /// Whether an answer is among them. Weak tags count, as the comparison of this field is the weak one.
    func contains(_ tag: EntityTag) -> Bool {
        values.contains { value in
            var value = value
            return value.withUTF8 { Self.list(UnsafeRawBufferPointer($0), contains: tag) }
        }
    }

    /// What is no entity tag is passed over; a comma may stand inside one.
    private static func list(_ list: UnsafeRawBufferPointer, contains tag: EntityTag) -> Bool {
        if UnsafeRawBufferPointer(rebasing: list[...].trimmingBlanks).isWord("*") { return true }
        var start = 0
        while let quote = quote(in: list, from: start), let end = self.quote(in: list, from: quote + 1) {
            if list.part(quote, end + 1).elementsEqual(tag.text.utf8) { return true }
            start = end + 1
        }
        return false
    }

    private static func quote(in list: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let first = list.baseAddress, start < list.count,
            let quote = memchr(first + start, Int32(UInt8(ascii: "\"")), list.count - start)
        else { return nil }
        return first.distance(to: quote)
    }
}
