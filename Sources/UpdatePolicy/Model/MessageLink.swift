// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The rules for the link of a message.
package enum MessageLink {
    /// The word that stands for the app's link on the client's platform.
    package static let store = "store"

    /// The schemes that apps may open, each with what must follow its colon.
    private static let schemes = [
        (name: "https", opening: "//"), (name: "http", opening: "//"), (name: "itms-apps", opening: ""),
        (name: "itms-appss", opening: ""), (name: "macappstore", opening: ""), (name: "market", opening: ""),
        (name: "ms-windows-store", opening: ""),
    ]

    /// Whether a text is an address that apps may open: at most 2,048 bytes of printable ASCII without blanks, with one
    /// of the schemes https, http, itms-apps, itms-appss, macappstore, market and ms-windows-store; https and http name
    /// a host, without a user.
    ///
    /// The SQL function `check_link` says the same.
    package static func isAllowed(_ link: String) -> Bool {
        let bytes = Array(link.utf8)
        guard bytes.count <= 2_048, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return false }
        let name = String(decoding: bytes[..<colon].map(ASCII.lowercased), as: UTF8.self)
        guard let scheme = schemes.first(where: { $0.name == name }) else { return false }
        let rest = bytes[(colon + 1)...]
        guard rest.starts(with: scheme.opening.utf8) else { return false }
        let location = rest.dropFirst(scheme.opening.utf8.count)
        return scheme.opening.isEmpty ? !location.isEmpty : namesHost(location)
    }

    /// Whether what follows `https://` begins with a host, and a port of up to five digits if there is one.
    private static func namesHost(_ location: ArraySlice<UInt8>) -> Bool {
        let authority = location.prefix { !"/?#".utf8.contains($0) }
        let host: ArraySlice<UInt8>
        let rest: ArraySlice<UInt8>
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return false }
            host = authority[(authority.startIndex + 1)..<end]
            rest = authority[(end + 1)...]
            guard !host.isEmpty, host.allSatisfy({ isHexadecimal($0) || ":.".utf8.contains($0) }) else { return false }
        } else {
            host = authority.prefix { $0 != UInt8(ascii: ":") }
            rest = authority[host.endIndex...]
            let labels = (host.last == UInt8(ascii: ".") ? host.dropLast() : host)
                .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isNameByte) }) else { return false }
        }
        guard rest.first == UInt8(ascii: ":") else { return rest.isEmpty }
        return (1...5).contains(rest.dropFirst().count) && rest.dropFirst().allSatisfy(isDigit)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(ASCII.lowercased(byte))
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(ASCII.lowercased(byte))
            || "_-".utf8.contains(byte)
    }
}
