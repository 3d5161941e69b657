// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Crypto
import NIOCore
import NIOHTTP1
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
    init(of body: [UInt8]) {
        let digits = SHA256.hash(data: body).prefix(16).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        text = "\"\(digits.joined())\""
    }
}

/// The answers that a client or a cache has already, as the header field `If-None-Match` names them.
///
/// Source: [RFC 9110, 13.1.2](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2).
struct IfNoneMatch: Hashable {
    private let values: [String]

    /// Takes the values of all fields of this name.
    init(_ values: [String]) {
        self.values = values
    }

    /// Whether an answer is among them. Weak tags count, as the comparison of this field is the weak one.
    ///
    /// What is no entity tag is passed over.
    func contains(_ tag: EntityTag) -> Bool {
        values.contains { value in
            Self.isAny(value.utf8) || Self.tags(in: value.utf8, contain: tag.text.utf8)
        }
    }

    private static func isAny(_ value: String.UTF8View) -> Bool {
        var rest = value[...]
        while rest.first.map(isBlank) == true { rest.removeFirst() }
        guard rest.popFirst() == UInt8(ascii: "*") else { return false }
        return rest.allSatisfy(isBlank)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    /// Whether a tag, with its quotes, is one of those in a list; a comma may stand inside one.
    private static func tags(in list: String.UTF8View, contain tag: String.UTF8View) -> Bool {
        let quote = UInt8(ascii: "\"")
        var rest = list[...]
        while let start = rest.firstIndex(of: quote) {
            let inside = rest[start...].dropFirst()
            guard let end = inside.firstIndex(of: quote) else { return false }
            if rest[start...end].elementsEqual(tag) { return true }
            rest = rest[end...].dropFirst()
        }
        return false
    }
}

extension ResponseWriter {
    /// The answer of a check that caches may keep as long as they ask each time whether it still holds.
    ///
    /// Nothing in it depends on the fields of the request, so it has no `Vary`.
    ///
    /// - Parameter known: The answers that the client has; it gets 304 without a body if this one is among them.
    func revalidatableAnswer(
        body: [UInt8],
        revision: Int64?,
        known: IfNoneMatch,
        connection: ConnectionHeader,
        omitsBody: Bool,
        now: Timestamp
    ) -> (status: HTTPResponseStatus, bytes: ByteBuffer) {
        let tag = EntityTag(of: body)
        let isKnown = known.contains(tag)
        let status = isKnown ? "304 Not Modified" : "200 OK"
        let content = isKnown ? "" : "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n"
        let head = """
            HTTP/1.1 \(status)\r
            \(content)Cache-Control: no-cache\r
            ETag: \(tag.text)\r
            \(revision.map { "Policy-Revision: \($0)\r\n" } ?? "")\
            Date: \(HTTPDate.format(HTTPDate.second(of: now)))\r
            \(connection.line)\r\n
            """
        var buffer = ByteBuffer()
        buffer.reserveCapacity(head.utf8.count + body.count)
        buffer.writeString(head)
        if !isKnown, !omitsBody {
            buffer.writeBytes(body)
        }
        return (isKnown ? .notModified : .ok, buffer)
    }
}
