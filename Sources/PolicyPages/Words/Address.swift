// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Addresses of pages.
enum Address {
    static func app(_ bundle: String) -> String { "/apps/\(encoded(bundle))" }
    static func rule(_ key: String) -> String { "/rules/\(encoded(key))" }

    /// Text as a part of a path or a value of a query: all but unreserved characters with percent signs.
    static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A link that a browser may follow from a page; nil for schemes of phones.
    static func followed(_ link: String) -> String? {
        let scheme = link.prefix { $0 != ":" }.lowercased()
        return scheme == "https" || scheme == "http" ? link : nil
    }
}
