/// A language as a client or a rule names it: a BCP 47 tag (`zh-Hant-TW`) or a locale (`zh_Hant_TW`).
///
/// Tags compare by their subtags, ASCII case does not count, and `_` is `-`. The code set and the modifier of a POSIX
/// locale (`de_DE.UTF-8@euro`) are no part of the language and are cut off. What is left is read in today's form.
package struct LanguageTag: Sendable, CustomStringConvertible {
    package let text: String
    package var description: String { text }

    /// The tag in today's form and in lower case, its subtags joined by `-`.
    let normalized: String

    /// Takes over a tag; a text that is no tag matches nothing but itself.
    package init(_ text: String) {
        self.text = text
        normalized = Self.normalize(text)
    }

    /// Whether the tag is in a language range by basic filtering (RFC 4647, 3.3.1).
    ///
    /// `zh-Hant` holds `zh-Hant` and `zh-Hant-TW`, not `zh-TW`; `*` holds every tag.
    package func matches(_ range: LanguageTag) -> Bool {
        if range.isWildcard { return true }
        return normalized.withBytes { tag in
            range.normalized.withBytes { range in
                guard tag.count >= range.count else { return false }
                return UnsafeRawBufferPointer(rebasing: tag[..<range.count]).hasSameBytes(as: range)
                    && (tag.count == range.count || tag[range.count] == ASCII.hyphen)
            }
        }
    }

    /// The index of the best of some tags by lookup (RFC 4647, 3.4), or `nil` where none is good enough.
    ///
    /// The tag is shortened from the end, subtag by subtag, until one of `tags` equals it.
    package func lookup(in tags: some Collection<LanguageTag>) -> Int? {
        var end = normalized.utf8.count
        return normalized.withBytes { bytes in
            while end > 0 {
                let candidate = UnsafeRawBufferPointer(rebasing: bytes[..<end])
                var index = 0
                for tag in tags {
                    if tag.normalized.withBytes({ $0.hasSameBytes(as: candidate) }) { return index }
                    index += 1
                }
                end = Self.shortened(bytes, end)
            }
            return nil
        }
    }

    /// Whether the tag, as a range, holds every tag.
    var isWildcard: Bool { normalized == "*" }

    /// The length without the last subtag, and without a subtag of one character that would then be the last.
    static func shortened(_ bytes: UnsafeRawBufferPointer, _ end: Int) -> Int {
        guard let hyphen = bytes[..<end].lastIndex(of: ASCII.hyphen) else { return 0 }
        let isSingleBefore = hyphen >= 2 && bytes[hyphen - 2] == ASCII.hyphen
        return isSingleBefore ? hyphen - 2 : hyphen
    }

    private static func normalize(_ text: String) -> String {
        let isNormal = text.utf8.allSatisfy {
            !ASCII.isUpper($0) && $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "@") && $0 != ASCII.dot
        }
        return ASCII.lowercased(current(isNormal ? text : hyphenated(text)))
    }

    private static func hyphenated(_ text: String) -> String {
        let language = text.utf8.prefix { $0 != UInt8(ascii: "@") && $0 != ASCII.dot }
        return String(decoding: language.map { $0 == UInt8(ascii: "_") ? ASCII.hyphen : $0 }, as: UTF8.self)
    }
}

extension LanguageTag {
    /// The tag in today's form, for people: `he-IL` for `iw_IL`.
    package var current: String { Self.current(Self.hyphenated(text)) }

    /// A tag in today's form, in which it is stored: `he` for `iw`, `zh-Hant-TW` for `zh-TW`.
    package static func current(_ tag: String) -> String {
        tag.withBytes { bytes in
            let beginning: String? =
                switch letters(bytes, at: 0) {
                case 0x6977: "he"  // iw
                case 0x696E: "id"  // in
                case 0x6A69: "yi"  // ji
                case 0x6A77: "jv"  // jw
                case 0x6D6F: "ro"  // mo
                case 0x6E6F: "nb"  // no
                case 0x746C: "fil"  // tl
                case 0x7A68:  // zh
                    switch letters(bytes, at: 3) {
                    case 0x7477, 0x686B, 0x6D6F: "zh-Hant"  // tw, hk, mo
                    case 0x636E, 0x7367: "zh-Hans"  // cn, sg
                    default: nil
                    }
                default: nil
                }
            return beginning.map { $0 + String(decoding: bytes[2...], as: UTF8.self) } ?? tag
        }
    }

    /// The letters of the subtag of two that begins at an index, in lower case; 0 where there is none.
    private static func letters(_ tag: UnsafeRawBufferPointer, at index: Int) -> UInt16 {
        let end = index + 2
        guard tag.count == end || tag.count > end && tag[end] == ASCII.hyphen else { return 0 }
        return UInt16(ASCII.lowercased(tag[index])) << 8 | UInt16(ASCII.lowercased(tag[index + 1]))
    }
}

extension LanguageTag: Hashable {
    package static func == (left: LanguageTag, right: LanguageTag) -> Bool {
        UTF8Text(left.normalized) == UTF8Text(right.normalized)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(UTF8Text(normalized))
    }
}
