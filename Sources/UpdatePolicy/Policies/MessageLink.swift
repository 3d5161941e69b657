// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// What may be the link of a message.
public enum MessageLink {
    /// The word that stands for the app's link on the client's platform.
    public static let store = "store"

    /// The schemes that apps may open, each with what must follow its colon.
    private static let schemes = [
        (name: "https", opening: "//"), (name: "http", opening: "//"), (name: "itms-apps", opening: ""),
        (name: "itms-appss", opening: ""), (name: "macappstore", opening: ""), (name: "market", opening: ""),
        (name: "ms-windows-store", opening: ""),
    ]

    /// Whether a text is an address that apps may open: at most 2,048 bytes of printable ASCII without blanks, with one
    /// of the schemes https, http, itms-apps, itms-appss, macappstore, market and ms-windows-store.
    ///
    /// The SQL function `check_link` says the same.
    public static func isAllowed(_ link: String) -> Bool {
        let bytes = Array(link.utf8)
        guard bytes.count <= 2_048, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return false }
        let name = String(decoding: bytes[..<colon].map(ASCII.lowercased), as: UTF8.self)
        guard let scheme = schemes.first(where: { $0.name == name }) else { return false }
        let rest = bytes[(colon + 1)...]
        guard rest.starts(with: scheme.opening.utf8), let first = rest.dropFirst(scheme.opening.utf8.count).first
        else { return false }
        return scheme.opening.isEmpty || !"/?#".utf8.contains(first)
    }
}
