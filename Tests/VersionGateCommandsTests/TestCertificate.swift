import Foundation
import TestDatabase

/// A certificate for 127.0.0.1 that signs itself, with its key, made by the openssl command in a folder of a test.
struct TestCertificate: Sendable {
    /// The file of the certificate.
    let certificate: String
    /// The file of its key.
    let key: String

    /// Makes a new certificate.
    ///
    /// - Parameters:
    ///   - folder: Where the files go.
    ///   - name: The common name, and the name of the files.
    ///   - rsaBits: The size of an RSA key; nil for a key on the curve P-256.
    init(in folder: String, name: String, rsaBits: Int? = nil) async throws {
        certificate = "\(folder)/\(name).crt"
        key = "\(folder)/\(name).key"
        let algorithm = rsaBits.map { "rsa:\($0)" } ?? "ec -pkeyopt ec_paramgen_curve:prime256v1"
        let result = try await BuiltBinary(environment: [:]).shell(
            "openssl req -x509 -newkey \(algorithm) -nodes -days 2 -subj '/CN=\(name)'"
                + " -addext subjectAltName=IP:127.0.0.1 -keyout '\(key)' -out '\(certificate)'"
        )
        guard result.status == 0 else { throw ServingBinaryError.unexpectedAnswer("openssl: \(result.errors)") }
    }

    /// Replaces the files by those of another certificate.
    func replace(with other: TestCertificate) throws {
        for (from, to) in [(other.key, key), (other.certificate, certificate)] {
            let data = try Data(contentsOf: URL(fileURLWithPath: from))
            try data.write(to: URL(fileURLWithPath: to), options: .atomic)
        }
    }
}
