import CheckListener
import NIOSSL

/// The files of the listener's TLS, both in PEM. They are read when the listener opens, and again on SIGHUP.
struct TLSFiles: Sendable, Hashable {
    /// The certificate, followed by those that lead to the authority that clients trust.
    var certificate = ""
    /// The certificate's private key, without a passphrase.
    var key = ""

    func load() throws(ConfigurationError) -> TLSCertificate {
        let certificateOption = "--tls-certificate (VERSIONGATE_TLS_CERTIFICATE)"
        let keyOption = "--tls-key (VERSIONGATE_TLS_KEY)"
        let certificateBytes = try ConfigurationError.reading(certificate, certificateOption)
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(certificateBytes), let first = chain.first else {
            throw ConfigurationError("\(certificateOption): \(certificate) does not hold PEM certificates")
        }
        if let fault = try? CertificateChain(chain).firstFault() {
            throw ConfigurationError(
                "\(certificateOption): certificate \(fault) of \(chain.count) in \(certificate) is not signed by the next one, "
                    + "so clients refuse it: the file is damaged, or not in the order of the chain, the server's first; put "
                    + "the file of the authority in place again"
            )
        }
        let keyBytes = try ConfigurationError.reading(key, keyOption)
        guard let privateKey = try? NIOSSLPrivateKey(bytes: keyBytes, format: .pem) else {
            throw ConfigurationError("\(keyOption): \(key) does not hold a PEM private key without a passphrase")
        }
        do {
            return try TLSCertificate(first, chain: chain, key: privateKey)
        } catch {
            throw ConfigurationError("the key in \(key) does not belong to the first certificate in \(certificate)")
        }
    }
}
