import CNIOBoringSSL
package import NIOSSL

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
