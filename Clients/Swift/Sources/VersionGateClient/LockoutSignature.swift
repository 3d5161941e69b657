import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#elseif canImport(Crypto)
    import Crypto
#endif

/// The signature of a lockout: RFC 9421 with RFC 9530, in the one form that the server writes.
enum LockoutSignature {
    /// How a public key of P-256 begins: SubjectPublicKeyInfo in base64.
    private static let keyPrefix = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE"

    /// Whether a text is a public key, but for whether its point is on the curve.
    static func isKey(_ text: String) -> Bool {
        text.hasPrefix(keyPrefix) && Data(base64Encoded: text)?.count == 91
    }

    /// When the valid signature of a response expires; nil if it has none, whatever the reason is.
    ///
    /// Without CryptoKit, on Linux, no signature is valid unless the package is built with swift-crypto.
    static func expiry(of response: GateResponse, bundle: String, keys: [String], at now: Int) -> Int? {
        #if canImport(CryptoKit) || canImport(Crypto)
            let fields = response.headers
            guard let digest = fields["content-digest"], let named = fields["policy-bundle"],
                let input = fields["signature-input"].flatMap(Input.init), let signature = fields["signature"],
                lowercased(named) == lowercased(bundle), input.created - 86_400 <= now, now < input.expires,
                digest.utf8.elementsEqual("sha-256=:\(base64(SHA256.hash(data: response.body))):".utf8),
                signature.hasPrefix("lockout=:"), signature.hasSuffix(":"),
                let numbers = Data(base64Encoded: String(signature.dropFirst(9).dropLast())), numbers.count == 64,
                let value = try? P256.Signing.ECDSASignature(rawRepresentation: numbers)
            else { return nil }
            let base =
                "\"content-digest\": \(digest)\n\"policy-bundle\": \(named)\n\"@signature-params\": \(input.parameters)"
            for key in keys.compactMap({ Data(base64Encoded: $0) }) {
                guard SHA256.hash(data: key).prefix(8).elementsEqual(input.key),
                    let key = try? P256.Signing.PublicKey(derRepresentation: key),
                    key.isValidSignature(value, for: Data(base.utf8))
                else { continue }
                return input.expires
            }
        #endif
        return nil
    }

    private static func base64(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }

    /// Only the letters of ASCII.
    private static func lowercased(_ text: String) -> [UInt8] {
        text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    }

    /// What `Signature-Input` says.
    private struct Input {
        let parameters: String
        let created: Int
        let expires: Int
        /// The first bytes of the SHA-256 of the key.
        let key: [UInt8]

        init?(_ field: String) {
            let parts = field.split(separator: ";", omittingEmptySubsequences: false)
            guard parts.count == 5, let created = Self.number(parts[1], "created="),
                let expires = Self.number(parts[2], "expires="), parts[3].utf8.count == 24
            else { return nil }
            let id = parts[3].dropFirst(7).dropLast()
            let digits = id.utf8.compactMap { byte -> UInt8? in
                switch byte {
                case 0x30...0x39: byte - 0x30
                case 0x61...0x66: byte - 0x57
                default: nil
                }
            }
            guard digits.count == 16 else { return nil }
            parameters =
                "(\"content-digest\" \"policy-bundle\");\(parts[1]);\(parts[2]);keyid=\"\(id)\";alg=\"ecdsa-p256-sha256\""
            guard field.utf8.elementsEqual("lockout=\(parameters)".utf8) else { return nil }
            (self.created, self.expires) = (created, expires)
            key = stride(from: 0, to: 16, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        }

        private static func number(_ part: Substring, _ name: String) -> Int? {
            let digits = part.dropFirst(name.count)
            guard part.hasPrefix(name), (1...12).contains(digits.utf8.count),
                digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            return Int(digits)
        }
    }
}
