import Foundation
import NIOHTTP1
import TestDatabase
import TestRandom
import TestSystem
import Testing
import UpdatePolicy

@Suite("TLS", .whole, .timeLimit(.minutes(20)))
struct TLSTests {
    /// Runs a server with a certificate for `first`, and gives it and the certificate to `body`.
    @discardableResult
    private func serve(
        _ binary: BuiltBinary = .withoutDatabase(), rsaBits: Int? = nil,
        _ body: @escaping @Sendable (ServingBinary, TestCertificate) async throws -> Void
    ) async throws -> ServingBinary.Ending {
        try await StateFolder.with { folder in
            let certificate = try await TestCertificate(in: folder.path, name: "first", rsaBits: rsaBits)
            let files = ["--tls-certificate", certificate.certificate, "--tls-key", certificate.key]
            return try await ServingBinary.run(binary, arguments: files) { try await body($0, certificate) }
        }
    }

    /// The subject of the certificate that a server shows, the protocol that was agreed on, and what the server answers.
    private static func handshake(
        _ server: ServingBinary,
        _ arguments: [String],
        input: String = ""
    ) async throws -> String {
        let address = server.publicURL.replacing("https://", with: "")
        let words = arguments.map(\.shellWord).joined(separator: " ")
        return try await BuiltBinary(environment: [:])
            .shell("printf %s \(input.shellWord) | openssl s_client -connect \(address) \(words) 2>&1").output
    }

    @Test("The listener answers checks with TLS 1.2 and 1.3 and HTTP/1.1, and none with TLS 1.1")
    func answersChecks() async throws {
        try await serve { server, certificate in
            #expect(server.publicURL.hasPrefix("https://"))
            #expect(server.managementURL.hasPrefix("http://"))
            let answer = try await HTTPAnswer(
                server.publicURL + "/v1/check", method: .POST, body: #"{"bundle":"a"}"#,
                trusting: certificate.certificate
            )
            #expect(answer.body == #"{"messages":[]}"#)

            let new = try await Self.handshake(server, ["-alpn", "h2,http/1.1"])
            #expect(new.contains("ALPN protocol: http/1.1"), "\(new)")
            #expect(new.contains("TLSv1.3"))
            #expect(try await Self.handshake(server, ["-tls1_2"]).contains("TLSv1.2"))
            let old = try await Self.handshake(server, ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
            #expect(old.contains("alert protocol version") || old.contains("wrong version"), "\(old)")
        }
    }

    @Test("A client that comes back resumes its TLS session by a ticket, with 1.2 and 1.3", arguments: ["1_2", "1_3"])
    func resumesSessions(version: String) async throws {
        try await serve { server, certificate in
            // With TLS 1.3 the tickets come after the handshake, and the session goes on until the response has come.
            let check = """
                POST /v1/check HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 14\r\n\r\n{"bundle":"a"}
                """
            let session = certificate.certificate + ".session"
            let options = ["-tls\(version)", "-ign_eof"]
            let first = try await Self.handshake(server, options + ["-sess_out", session], input: check)
            #expect(first.contains("New, TLSv1."), "\(first)")
            #expect(first.contains(#"{"messages":[]}"#), "\(first)")
            let second = try await Self.handshake(server, options + ["-sess_in", session], input: check)
            #expect(second.contains("Reused, TLSv1."), "\(second)")
            #expect(second.contains(#"{"messages":[]}"#), "\(second)")
        }
    }

    @Test("The listener uses suites with forward secrecy alone, and counts each handshake that fails once")
    func refusesWeakSuites() async throws {
        try await serve(rsaBits: 2_048) { server, _ in
            let weak = [
                "AES128-SHA", "AES256-SHA", "AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA384",
            ]
            for suite in weak {
                let shown = try await Self.handshake(server, ["-tls1_2", "-cipher", suite + ":@SECLEVEL=0"])
                #expect(shown.contains("Cipher is (NONE)"), "\(suite): \(shown)")
            }
            for suite in [
                "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305",
            ] {
                let shown = try await Self.handshake(server, ["-tls1_2", "-cipher", suite])
                #expect(shown.contains("Cipher is \(suite)"), "\(shown)")
            }
            // A client may be gone before the server has noticed. Those that succeed without a request are none of them.
            try await Poll.until("\(weak.count) failed handshakes") {
                let name = #"versiongate_refusals_total{reason="handshake"}"#
                return try await server.metric(name) == "\(weak.count)"
            }
            let expiry = try await server.metric("versiongate_tls_certificate_expiry_timestamp_seconds")
            let seconds = try #require(expiry.flatMap { Double($0) }) - Date().timeIntervalSince1970
            #expect((86_400...2 * 86_400).contains(seconds))
        }
    }

    @Test("The listener says at the start that the key of a certificate is so short that clients may refuse it")
    func warnsAboutShortKeys() async throws {
        let ending = try await serve(rsaBits: 1_024) { _, _ in }
        #expect(ending.errors.contains("Clients may refuse the TLS certificate"), "\(ending.errors)")
        #expect(ending.errors.contains("1024 bits"), "\(ending.errors)")
    }

    @Test(
        "The listener shows new connections a new certificate after SIGHUP, and keeps the old one when the new cannot be used"
    )
    func readsTheCertificateAgain() async throws {
        let ending = try await serve { server, certificate in
            let folder = URL(fileURLWithPath: certificate.certificate).deletingLastPathComponent().path
            let second = try await TestCertificate(in: folder, name: "second")
            #expect(try await Self.handshake(server, []).contains("CN = first"))
            try certificate.replace(with: second)
            kill(server.processIdentifier, SIGHUP)
            try await Poll.until("the second certificate") {
                try await Self.handshake(server, []).contains("CN = second")
            }
            try Data("nonsense".utf8).write(to: URL(fileURLWithPath: certificate.certificate))
            kill(server.processIdentifier, SIGHUP)
            #expect(try await Self.handshake(server, []).contains("CN = second"))
            try await Poll.until("the failure") {
                try await server.metric("versiongate_tls_certificate_reload_failures_total") == "1"
            }
        }
        #expect(ending.status == 0)
        #expect(ending.errors.contains("The TLS certificate was read again"))
    }

    @Test("A new certificate that cannot be read is said by /ready, the pages and status", .migratedDatabase)
    func saysThatItCannotBeRead() async throws {
        try await serve(.server()) { server, certificate in
            #expect(!(try await server.management("/ready").body.contains("certificateError")))
            let good = try Data(contentsOf: URL(fileURLWithPath: certificate.certificate))
            try Data("nonsense".utf8).write(to: URL(fileURLWithPath: certificate.certificate))
            kill(server.processIdentifier, SIGHUP)
            let fault = "the certificate in \(certificate.certificate): the new one could not be read"
            _ = try await server.ready { $0.replacing("\\/", with: "/").contains(fault) }
            #expect(try await server.management("/").body.contains("Apps may refuse to connect: \(fault)"))
            _ = try await BuiltBinary(.current).status(saying: "apps may refuse its certificate, see its /ready")
            try good.write(to: URL(fileURLWithPath: certificate.certificate))
            kill(server.processIdentifier, SIGHUP)
            _ = try await server.ready { !$0.contains("certificateError") }
        }
    }

    @Test("A server without TLS has nothing to read again at SIGHUP, and goes on answering")
    func survivesSIGHUP() async throws {
        let ending = try await ServingBinary.run(.withoutDatabase()) { server in
            for _ in 1...3 {
                kill(server.processIdentifier, SIGHUP)
                let isEnded = try await PlainConnection.isEnded(server.publicURL, after: "nonsense\r\n\r\n")
                #expect(isEnded)
            }
        }
        #expect(ending.status == 0)
    }

    @Test("The listener ends a handshake that takes too long, and one that is none, and goes on answering")
    func endsSlowHandshakes() async throws {
        try await serve(.withoutDatabase()) { server, _ in
            for beginning in ["", "\u{16}\u{3}\u{1}", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"] {
                let isEnded = try await PlainConnection.isEnded(server.publicURL, after: beginning)
                #expect(isEnded)
            }
            let shown = try await Self.handshake(server, [])
            #expect(shown.contains("CN = first"))
        }
    }

    @Test("The listener is not started with files that cannot be used, and each fault is named")
    func refusesFiles() async throws {
        try await StateFolder.with { state in
            let folder = state.path
            let first = try await TestCertificate(in: folder, name: "first")
            let second = try await TestCertificate(in: folder, name: "second")
            try Data("nonsense".utf8).write(to: URL(fileURLWithPath: folder + "/nonsense"))
            let binary = BuiltBinary.withoutDatabase()
            for (certificate, key, fault) in [
                (first.certificate, nil, "without --tls-key"), (nil, first.key, "without --tls-certificate"),
                (folder + "/none", first.key, "/none cannot be read: No such file"),
                (first.certificate, folder + "/none", "/none cannot be read: No such file"),
                (folder, first.key, "cannot be read: Is a directory"),
                ("/dev/zero", first.key, "more than 1048576 bytes"),
                (folder + "/nonsense", first.key, "/nonsense"), (first.certificate, folder + "/nonsense", "/nonsense"),
                (first.certificate, second.key, "does not belong"), (first.key, first.key, "first.key"),
            ] {
                var arguments = ["serve", "--port", "0", "--management-port", "0"]
                if let certificate { arguments += ["--tls-certificate", certificate] }
                if let key { arguments += ["--tls-key", key] }
                let result = try await binary.run(arguments: arguments)
                #expect(result.status == 64, "\(fault)")
                #expect(result.errors.contains(fault), "\(result.errors)")
            }
        }
    }
}
