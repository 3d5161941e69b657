// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOSSL

/// The files that the public listener's TLS needs, both in PEM.
public struct TLSFiles: Sendable, Hashable {
    /// The certificate, followed by those that lead to the authority that clients trust.
    public var certificate: String
    /// The certificate's private key, without a passphrase.
    public var key: String

    /// Names the files; they are read when the listener opens, and again on SIGHUP.
    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// Reads both files.
    ///
    /// - Throws: ``ConfigurationError`` that names the file and what is wrong with it.
    func makeContext() throws(ConfigurationError) -> NIOSSLContext {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificate)
        } catch {
            throw Self.fault("--tls-certificate (VERSIONGATE_TLS_CERTIFICATE)", certificate, "PEM certificates", error)
        }
        guard !chain.isEmpty else {
            throw ConfigurationError(
                "--tls-certificate (VERSIONGATE_TLS_CERTIFICATE): \(certificate) has no certificate in it"
            )
        }
        let privateKey: NIOSSLPrivateKey
        do {
            privateKey = try NIOSSLPrivateKey(file: key, format: .pem)
        } catch {
            throw Self.fault("--tls-key (VERSIONGATE_TLS_KEY)", key, "a PEM private key without a passphrase", error)
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(privateKey)
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw ConfigurationError("the key in \(key) does not belong to the first certificate in \(certificate)")
        }
    }

    private static func fault(_ option: String, _ file: String, _ content: String, _ error: any Error)
        -> ConfigurationError
    {
        guard let error = error as? IOError else {
            return ConfigurationError("\(option): \(file) does not hold \(content)")
        }
        return ConfigurationError("\(option): \(file) cannot be read (\(error.description))")
    }
}
