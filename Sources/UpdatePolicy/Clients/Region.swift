/// A country or territory, as an assigned two-letter code of ISO 3166-1 (or XK, which Kosovo's users send).
package struct Region: Sendable, Hashable, CustomStringConvertible {
    /// Both letters, the first in the higher byte; never 0.
    let letters: UInt16

    private init?(_ first: UInt8, _ second: UInt8) {
        guard ASCII.isLetter(first), ASCII.isLetter(second) else { return nil }
        let first = first & ~0x20
        let second = second & ~0x20
        guard Self.assigned[Int(first - UInt8(ascii: "A"))] & (1 << (second - UInt8(ascii: "A"))) != 0 else {
            return nil
        }
        letters = UInt16(first) << 8 | UInt16(second)
    }

    /// Reads a code as rules and releases hold it: two upper-case letters that are assigned, nothing else.
    package init?(code: String) {
        guard code.utf8.count == 2 else { return nil }
        self.init(locale: code)
    }

    /// Reads the country in what a client sends, a country (`JP`) or a locale (`ja_JP`, `zh-Hant-TW`).
    ///
    /// The text is cut at `@` and `.`, and `_` counts as `-`. Two upper-case letters alone are a country; otherwise it is
    /// the first subtag of two letters, in any case, behind the first subtag; one behind a single letter is none.
    /// Everything else (`en`, `us`, `English`, `es-419`, a code that is not assigned) names no country and is `nil`.
    package init?(locale: String) {
        guard let region = locale.withBytes({ Region(localeBytes: $0) }) else { return nil }
        self = region
    }

    init?(localeBytes bytes: UnsafeRawBufferPointer) {
        var start = 0
        var isFirst = true
        while true {
            var end = start
            while end < bytes.count, !Self.isEnd(bytes[end]), !Self.isSeparator(bytes[end]) { end += 1 }
            let isLast = end == bytes.count || Self.isEnd(bytes[end])
            let length = end - start
            if isFirst {
                if isLast {
                    guard length == 2, ASCII.isUpper(bytes[0]), ASCII.isUpper(bytes[1]) else { return nil }
                    self.init(bytes[0], bytes[1])
                    return
                }
                isFirst = false
                if length == 1, ASCII.isLetter(bytes[0]) { return nil }
            } else if length == 2, ASCII.isLetter(bytes[start]), ASCII.isLetter(bytes[start + 1]) {
                self.init(bytes[start], bytes[start + 1])
                return
            } else if length == 1, ASCII.isLetter(bytes[start]) {
                return nil
            }
            if isLast { return nil }
            start = end + 1
        }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    private static func isEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "@") || byte == UInt8(ascii: ".")
    }

    package var code: String {
        String(decoding: [UInt8(letters >> 8), UInt8(truncatingIfNeeded: letters)], as: UTF8.self)
    }

    package var description: String { code }
}

extension Region {
    package static var all: [Region] { assignedCodes.split(separator: " ").compactMap { Region(code: String($0)) } }

    /// For each first letter the set of second letters, A being the lowest bit.
    static let assigned: [UInt32] = {
        var assigned = [UInt32](repeating: 0, count: 26)
        for code in assignedCodes.split(separator: " ") {
            let letters = code.utf8.map { $0 - UInt8(ascii: "A") }
            assigned[Int(letters[0])] |= 1 << UInt32(letters[1])
        }
        return assigned
    }()

    /// The officially assigned codes of ISO 3166-1 alpha-2, and XK.
    private static let assignedCodes = """
        AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ \
        CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO \
        FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE \
        JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO \
        MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW \
        PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM \
        TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW
        """
}
