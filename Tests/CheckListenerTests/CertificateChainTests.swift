import NIOSSL
import Testing

@testable import CheckListener

@Suite("Certificate chain")
struct CertificateChainTests {
    /// A server's certificate, that of the authority that signed it, and that of the root, which signed that and itself.
    private static let pem = """
        -----BEGIN CERTIFICATE-----
        MIIBHTCBwwIUDbg0CzOCXCRxN+gJmlg2zOKZJCgwCgYIKoZIzj0EAwIwETEPMA0G
        A1UEAwwGbWlkZGxlMCAXDTI2MTEyMzIxMDAxOVoYDzIxMjYxMDMwMjEwMDE5WjAP
        MQ0wCwYDVQQDDARsZWFmMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEim/PPHZg
        1MRdRk/oepr03nTZNh4oVgHtzmyXjdN/likANwWLB34ZR/fgfIa0HlEaPo4DhLeh
        1sAX4N1e3/tY2TAKBggqhkjOPQQDAgNJADBGAiEA77JBMc9w2kNoGGXh3Fr0LDax
        DzBVaAefRvNsLhwU82ICIQDKIF7vFEncbuqdY9zMTjKGtT7fNcVQBcp5LQ9Wtcgg
        Bg==
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIBdTCCARqgAwIBAgIUcePdMjSGTupBpGoY98toGX4f+TMwCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEcm9vdDAgFw0yNjExMjMyMTAwMTlaGA8yMTI2MTAzMDIxMDAx
        OVowETEPMA0GA1UEAwwGbWlkZGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
        qLcL7wBkw10Jm9eRCH+mSe4YCQ5hLt75v9YgjG+iKG8KB7nCNQxbR1JwhSebuIK1
        AjQtGVK5nQ6qzAWyD+hJeKNQME4wDAYDVR0TBAUwAwEB/zAdBgNVHQ4EFgQUaXEU
        en4rztdNDOFfk8NrA9bPSQIwHwYDVR0jBBgwFoAUwxtt7egbpSqaCFXbhX4NOiLB
        BWkwCgYIKoZIzj0EAwIDSQAwRgIhALROSha5hkZt9wSDHtsrnfBNio+89xyEe+Xp
        M+6/oFcEAiEAmE8/qO3EM5hrfg+Xc6Kka6nSSpTpvlbyj/aKGG5ZsX4=
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIBdTCCARugAwIBAgIUPFYeX/sRYgtj7WNzAaG7cAsygOswCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEcm9vdDAgFw0yNjExMjMyMTAwMTlaGA8yMTI2MTAzMDIxMDAx
        OVowDzENMAsGA1UEAwwEcm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABF+p
        +4/prZblWuwIIT3unmqRddqsTMqECP62fnrijlo/gqK6TEVPod5zKzW9Jsv1b+Tx
        K5dC+4HtOP1YxEP3SLCjUzBRMB0GA1UdDgQWBBTDG23t6BulKpoIVduFfg06IsEF
        aTAfBgNVHSMEGDAWgBTDG23t6BulKpoIVduFfg06IsEFaTAPBgNVHRMBAf8EBTAD
        AQH/MAoGCCqGSM49BAMCA0gAMEUCIQDEnc0xHP92mtdJc+H27PFVLmdiZB5QBoa0
        ghThKu/lawIgCB3E8qy5Kq4zXbbbm5fASLCiv+GL/l5hGG+oOfZae40=
        -----END CERTIFICATE-----
        """

    private func certificates() throws -> [NIOSSLCertificate] {
        try NIOSSLCertificate.fromPEMBytes(Array(Self.pem.utf8))
    }

    @Test("A chain is right with its root and without, and so is a certificate alone")
    func isRight() throws {
        let all = try certificates()
        for count in 1...3 { #expect(try CertificateChain(Array(all.prefix(count))).firstFault() == nil) }
        #expect(try CertificateChain([all[2]]).firstFault() == nil)
    }

    @Test("A chain in another order, or with one missing, is wrong where a certificate is not signed by the next")
    func isWrong() throws {
        let all = try certificates()
        #expect(try CertificateChain([all[0], all[2]]).firstFault() == 1)
        #expect(try CertificateChain([all[1], all[0]]).firstFault() == 1)
        #expect(try CertificateChain([all[0], all[1], all[1]]).firstFault() == 2)
    }

    @Test("A chain in which a bit of a certificate is another is wrong", arguments: 0..<2)
    func isDamaged(number: Int) throws { try judge(number, of: try certificates()) }

    @Test("A certificate that signed itself and in which a bit is another is wrong")
    func isDamagedAlone() throws { try judge(0, of: [try certificates()[2]]) }

    /// Changes a bit in each byte of a certificate of a chain, and expects that it is found.
    private func judge(_ number: Int, of chain: [NIOSSLCertificate]) throws {
        var chain = chain
        let bytes = try chain[number].toDERBytes()
        var parsed = 0
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1
            guard let certificate = try? NIOSSLCertificate(bytes: damaged, format: .der) else { continue }
            parsed += 1
            chain[number] = certificate
            #expect(try CertificateChain(chain).firstFault() != nil, "byte \(index)")
        }
        #expect(parsed > 100)
    }
}
