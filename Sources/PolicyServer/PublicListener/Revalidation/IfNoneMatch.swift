// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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
