import Foundation
import NIOSSL
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("TLS certificate")
struct TLSCertificateTests {
    /// A certificate with an RSA key of 1,024 bits, valid for a day.
    private static let pem = """
        -----BEGIN CERTIFICATE-----
        MIIB+jCCAWOgAwIBAgIUWXzFZju1mAKDRZlqpTsYMQOvKpAwDQYJKoZIhvcNAQEL
        BQAwDzENMAsGA1UEAwwEd2VhazAeFw0yNjExMjIwMDM0MDRaFw0yNjExMjMwMDM0
        MDRaMA8xDTALBgNVBAMMBHdlYWswgZ8wDQYJKoZIhvcNAQEBBQADgY0AMIGJAoGB
        AKblJZed1uyg+rXDrr1veiBN/Fc52qfDneUvzmfYnT5jOJx31lgGRJqSaloCquUZ
        r+yTjKkGLgYKaojUI0GwlcP2B7DZMybiXyHPzHJVu9P/fAIZqnATxZoIt5nZMBAj
        j3BMVJtmOfn862U7BvzzspudwKZV6QwFbgi19FYSreYvAgMBAAGjUzBRMB0GA1Ud
        DgQWBBRIvg3SP777yHP+/evosDB/6CnDEzAfBgNVHSMEGDAWgBRIvg3SP777yHP+
        /evosDB/6CnDEzAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA4GBAEA+
        LYdAX/GOHGYet7Y3+IndI8gre5kl0crXvwJM3jeUeH0jAdH377LQn8u06OCSl6UY
        cHE/D322+M966Rsa8tlqc2CBpu6sFEA2qYDRLFswr0ZaOeQyPuIya52leQ7PiE4M
        OEtSeUJBlPgU+eBzp42FszKd2+JcSnfga/dMrylz
        -----END CERTIFICATE-----
        """

    private func loaded() throws -> TLSCertificate {
        TLSCertificate(
            certificate: try #require(NIOSSLCertificate.fromPEMBytes(Array(Self.pem.utf8)).first),
            context: try NIOSSLContext(configuration: .makeClientConfiguration())
        )
    }

    @Test("A certificate is warned about when it has expired, when it is not valid yet, and when its key is short")
    func warnings() throws {
        let loaded = try loaded()
        let lastSecond = loaded.expiry * 1_000_000
        let short = "Its RSA key has 1024 bits; clients ask for 2048 at least."
        for (time, warnings) in [
            (lastSecond, [short]), (lastSecond + 1_000_000, ["It has expired.", short]),
            (lastSecond - 86_400_000_000, [short]), (lastSecond - 86_401_000_000, ["It is not valid yet.", short]),
        ] {
            #expect(loaded.warnings(at: Timestamp(microsecondsSince1970: time)) == warnings)
        }
    }

    @Test("A certificate tells the size of an RSA key from its bytes, and of nothing else")
    func sizes() throws {
        let certificate = try #require(NIOSSLCertificate.fromPEMBytes(Array(Self.pem.utf8)).first)
        let info = try certificate.extractPublicKey().toSPKIBytes()
        #expect(TLSCertificate.rsaBits(ofPublicKeyInfo: info) == 1_024)
        #expect(TLSCertificate.rsaBits(ofPublicKeyInfo: info.dropLast()) == nil)
        let other = Data(base64Encoded: try #require(LockoutKey.random()).publicKey).map { Array($0) }
        #expect(TLSCertificate.rsaBits(ofPublicKeyInfo: try #require(other)) == nil)
    }
}
