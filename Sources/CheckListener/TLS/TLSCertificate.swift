package import NIOSSL
import Synchronization
package import UpdatePolicy

/// A TLS certificate with its key.
package struct TLSCertificate: Sendable {
    /// The TLS configuration of connections.
    let context: NIOSSLContext
    /// Until when the certificate is valid, in seconds since 1970.
    package let expiry: Int64
    private let start: Int64
    /// The size of an RSA key; nil for a key of another kind.
    private let rsaBits: Int?

    /// What TLS 1.2 may use: suites with forward secrecy and authenticated encryption. TLS 1.3 has no others.
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    /// Uses a certificate.
    ///
    /// - Parameters:
    ///   - certificate: The certificate of the server.
    ///   - chain: All certificates that clients are sent, the server's first.
    ///   - key: The key of the server's certificate.
    /// - Throws: `NIOSSLError` if the key does not belong to the certificate.
    package init(_ certificate: NIOSSLCertificate, chain: [NIOSSLCertificate], key: NIOSSLPrivateKey) throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = Self.cipherSuites
        configuration.applicationProtocols = ["http/1.1"]
        self.init(certificate: certificate, context: try NIOSSLContext(configuration: configuration))
    }

    init(certificate: NIOSSLCertificate, context: NIOSSLContext) {
        self.context = context
        start = Int64(certificate.notValidBefore)
        expiry = Int64(certificate.notValidAfter)
        rsaBits = (try? certificate.extractPublicKey().toSPKIBytes()).flatMap(Self.rsaBits)
    }

    /// Why clients may refuse the certificate, one sentence for each reason.
    package func warnings(at time: Timestamp) -> [String] {
        let now = time.microsecondsSince1970 / 1_000_000
        var warnings: [String] = []
        if now > expiry { warnings.append("It has expired.") }
        if now < start { warnings.append("It is not valid yet.") }
        if let rsaBits, rsaBits < 2_048 {
            warnings.append("Its RSA key has \(rsaBits) bits; clients ask for 2048 at least.")
        }
        return warnings
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

/// The TLS certificate of new connections; open connections keep theirs.
package final class CurrentTLSCertificate: Sendable {
    private let certificate: Mutex<TLSCertificate>

    /// Begins with a certificate.
    package init(_ certificate: TLSCertificate) {
        self.certificate = Mutex(certificate)
    }

    /// The certificate of the next connection.
    package var value: TLSCertificate {
        certificate.withLock { $0 }
    }

    /// Uses another certificate from the next connection on.
    package func replace(with new: TLSCertificate) {
        certificate.withLock { $0 = new }
    }
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
