// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CheckListener
import NIOSSL
import SystemPackage

/// The files of the listener's TLS, both in PEM. They are read when the listener opens, and again on SIGHUP.
struct TLSFiles: Sendable, Hashable {
    /// The certificate, followed by those that lead to the authority that clients trust.
    var certificate: String
    /// The certificate's private key, without a passphrase.
    var key: String

    /// The most bytes that are read of a file.
    private static let maximumFileBytes = 1 << 20

    /// Reads both files.
    ///
    /// - Throws: ``ConfigurationError`` that names the file and what is wrong with it.
    func load() throws(ConfigurationError) -> TLSCertificate {
        let certificateOption = "--tls-certificate (VERSIONGATE_TLS_CERTIFICATE)"
        let keyOption = "--tls-key (VERSIONGATE_TLS_KEY)"
        let certificateBytes = try Self.read(certificate, certificateOption)
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
        let keyBytes = try Self.read(key, keyOption)
        guard let privateKey = try? NIOSSLPrivateKey(bytes: keyBytes, format: .pem) else {
            throw ConfigurationError("\(keyOption): \(key) does not hold a PEM private key without a passphrase")
        }
        do {
            return try TLSCertificate(first, chain: chain, key: privateKey)
        } catch {
            throw ConfigurationError("the key in \(key) does not belong to the first certificate in \(certificate)")
        }
    }

    private static func read(_ file: String, _ option: String) throws(ConfigurationError) -> [UInt8] {
        func fault(_ why: String) -> ConfigurationError {
            ConfigurationError("\(option): \(file) cannot be read: \(why)")
        }
        do {
            // A pipe without a writer would otherwise be waited for.
            let descriptor = try FileDescriptor.open(FilePath(file), .readOnly, options: [.nonBlocking, .closeOnExec])
            let result = Result {
                var bytes = [UInt8](repeating: 0, count: maximumFileBytes + 1)
                var count = 0
                while count < bytes.count {
                    let readCount = try bytes.withUnsafeMutableBytes { buffer in
                        try descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                    }
                    if readCount == 0 { break }
                    count += readCount
                }
                return Array(bytes[..<count])
            }
            try descriptor.close()
            let bytes = try result.get()
            guard bytes.count <= maximumFileBytes else { throw fault("it has more than \(maximumFileBytes) bytes") }
            return bytes
        } catch let error as Errno {
            throw fault(error.description)
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw fault("\(error)")
        }
    }
}
