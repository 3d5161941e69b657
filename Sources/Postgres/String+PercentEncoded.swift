extension StringProtocol {
    /// The text as a part of an address: all but the unreserved characters of RFC 3986 are encoded.
    package var percentEncoded: String { percentEncoded() }

    /// - Parameter keeping: Further characters that stay as they are.
    package func percentEncoded(keeping: String = "") -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~\(keeping)".utf8)
        return utf8.reduce(into: "") { result, byte in
            if plain.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }
}
