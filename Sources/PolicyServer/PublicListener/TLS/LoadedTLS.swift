// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOSSL
import UpdatePolicy

/// A certificate and key that were read, and what is worth knowing about the certificate.
struct LoadedTLS {
    /// What connections are encrypted with.
    let context: NIOSSLContext
    /// Until when the certificate is valid, in seconds since 1970.
    let expiry: Int64
    private let start: Int64
    /// The size of an RSA key; nil for a key of another kind.
    private let rsaBits: Int?

    init(certificate: NIOSSLCertificate, context: NIOSSLContext) {
        self.context = context
        start = Int64(certificate.notValidBefore)
        expiry = Int64(certificate.notValidAfter)
        rsaBits = (try? certificate.extractPublicKey().toSPKIBytes()).flatMap(Self.rsaBits)
    }

    /// Why clients may refuse the certificate, each a sentence; none where nothing is wrong with it.
    func concerns(at time: Timestamp) -> [String] {
        let now = time.microsecondsSince1970 / 1_000_000
        var concerns: [String] = []
        if now > expiry { concerns.append("It has expired.") }
        if now < start { concerns.append("It is not valid yet.") }
        if let rsaBits, rsaBits < 2_048 {
            concerns.append("Its RSA key has \(rsaBits) bits; clients ask for 2048 at least.")
        }
        return concerns
    }

    /// The bits of the modulus in a SubjectPublicKeyInfo
    /// ([RFC 5280, 4.1.2.7](https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.7)); nil where it holds no RSA key.
    static func rsaBits(ofPublicKeyInfo bytes: [UInt8]) -> Int? {
        var reader = DERReader(bytes[...])
        guard var info = reader.element(0x30), var algorithm = info.element(0x30),
            algorithm.element(0x06)?.rest.elementsEqual(rsaEncryption) == true,
            let bitString = info.element(0x03)
        else { return nil }
        // The first byte of a bit string counts its unused bits.
        var keyReader = DERReader(bitString.rest.dropFirst())
        guard var key = keyReader.element(0x30), let modulus = key.element(0x02) else { return nil }
        let digits = modulus.rest.drop { $0 == 0 }
        return digits.first.map { digits.count * 8 - $0.leadingZeroBitCount }
    }

    /// 1.2.840.113549.1.1.1
    private static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
}

/// Reads elements of ASN.1 in the distinguished encoding, one after the other.
private struct DERReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// The content of the next element; nil when it has another tag or is not complete.
    mutating func element(_ tag: UInt8) -> DERReader? {
        guard rest.popFirst() == tag, let first = rest.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            guard first & 0x7F <= 3, rest.count >= Int(first & 0x7F) else { return nil }
            length = 0
            for _ in 0..<(first & 0x7F) {
                length = length << 8 | Int(rest.removeFirst())
            }
        }
        guard rest.count >= length else { return nil }
        defer { rest = rest.dropFirst(length) }
        return DERReader(rest.prefix(length))
    }
}
