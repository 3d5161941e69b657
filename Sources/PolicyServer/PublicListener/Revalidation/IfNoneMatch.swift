// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The answers that a client or a cache has already, as the header field `If-None-Match` names them.
///
/// Source: [RFC 9110, 13.1.2](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2).
struct IfNoneMatch: Hashable {
    private let isAny: Bool
    private let tags: Set<Substring>

    /// Reads the values of all fields of this name; what is no entity tag is passed over.
    init(_ values: [String]) {
        isAny = values.contains { $0.filter { $0 != " " && $0 != "\t" } == "*" }
        tags = values.reduce(into: []) { $0.formUnion(Self.tags(in: $1)) }
    }

    /// Whether an answer is among them. Weak tags count, as the comparison of this field is the weak one.
    func contains(_ tag: EntityTag) -> Bool {
        isAny || tags.contains(tag.text[...])
    }

    /// The opaque parts, with their quotes; a comma may stand inside one.
    private static func tags(in value: String) -> [Substring] {
        var tags: [Substring] = []
        var rest = value[...]
        while let start = rest.utf8.firstIndex(of: UInt8(ascii: "\"")) {
            let inside = rest.utf8.index(after: start)
            guard let end = rest[inside...].utf8.firstIndex(of: UInt8(ascii: "\"")) else { break }
            tags.append(rest[start...end])
            rest = rest[rest.utf8.index(after: end)...]
        }
        return tags
    }
}
