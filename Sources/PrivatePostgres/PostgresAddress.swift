/// The address of a database behind a Unix socket, as psql and libpq read it.
struct PostgresAddress: CustomStringConvertible {
    let user: String
    let database: String
    let socketDirectory: String
    let port: Int

    var description: String {
        "postgresql://\(Self.percentEncoded(user))@/\(Self.percentEncoded(database))"
            + "?host=\(Self.percentEncoded(socketDirectory, keeping: "/"))&port=\(port)"
    }

    /// Text with all but the unreserved characters of RFC 3986, section 2.3, and those in `keeping` percent-encoded.
    private static func percentEncoded(_ text: String, keeping: String = "") -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~\(keeping)".utf8)
        return text.utf8.reduce(into: "") { result, byte in
            if plain.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }
}
