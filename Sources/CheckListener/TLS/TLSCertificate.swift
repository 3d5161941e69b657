import CNIOBoringSSL
package import NIOSSL
package import UpdatePolicy

/// A TLS certificate with its key.
package struct TLSCertificate: Sendable {
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
    /// - Parameter chain: All certificates that clients are sent, the server's first.
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

    /// The bits of the modulus in a SubjectPublicKeyInfo; nil where it holds no RSA key.
    static func rsaBits(ofPublicKeyInfo bytes: [UInt8]) -> Int? {
        let key = bytes.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_PUBKEY(nil, &start, bytes.count)
        }
        guard let key else {
            ERR_clear_error()
            return nil
        }
        defer { EVP_PKEY_free(key) }
        return EVP_PKEY_id(key) == EVP_PKEY_RSA ? Int(EVP_PKEY_bits(key)) : nil
    }
}

/// The TLS certificate of new connections; open connections keep theirs.
package typealias CurrentTLSCertificate = Current<TLSCertificate>

/// The certificates of a file, in the order in which clients are sent them.
package struct CertificateChain {
    private let certificates: [NIOSSLCertificate]

    package init(_ certificates: [NIOSSLCertificate]) {
        self.certificates = certificates
    }

    /// The number, from 1 on, of the first certificate whose signature is not that of the next one, or of itself where its
    /// names or its key identifiers say that it signed itself; nil where all are right.
    ///
    /// The signature of a last one that somebody else signed cannot be verified here.
    package func firstFault() throws -> Int? {
        var parsed: [OpaquePointer] = []
        defer { for certificate in parsed { X509_free(certificate) } }
        for certificate in certificates {
            let bytes = try certificate.toDERBytes()
            let pointer = bytes.withUnsafeBufferPointer { bytes in
                var start = bytes.baseAddress
                return d2i_X509(nil, &start, bytes.count)
            }
            guard let pointer else { return parsed.count + 1 }
            parsed.append(pointer)
        }
        return parsed.indices.first { index in
            let certificate = parsed[index]
            if Self.signsItself(certificate) { return !Self.isVerified(certificate, by: certificate) }
            guard index + 1 < parsed.count else { return false }
            let next = parsed[index + 1]
            return !Self.isIssued(certificate, by: next) || !Self.isVerified(certificate, by: next)
        }.map { $0 + 1 }
    }

    private static func signsItself(_ certificate: OpaquePointer) -> Bool {
        if isIssued(certificate, by: certificate) { return true }
        guard let own = X509_get0_subject_key_id(certificate), let issuer = X509_get0_authority_key_id(certificate)
        else { return false }
        return ASN1_OCTET_STRING_cmp(own, issuer) == 0
    }

    private static func isIssued(_ certificate: OpaquePointer, by issuer: OpaquePointer) -> Bool {
        X509_NAME_cmp(X509_get_issuer_name(certificate), X509_get_subject_name(issuer)) == 0
    }

    private static func isVerified(_ certificate: OpaquePointer, by issuer: OpaquePointer) -> Bool {
        guard let key = X509_get_pubkey(issuer) else { return false }
        defer { EVP_PKEY_free(key) }
        return X509_verify(certificate, key) == 1
    }
}
