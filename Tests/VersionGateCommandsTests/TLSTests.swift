// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import Subprocess
import TestDatabase
import Testing

@Suite("TLS on the public listener, by the built binary", .timeLimit(.minutes(2)))
struct TLSTests {
    private static let noDatabase = "postgresql://127.0.0.1:1/nothing"

    private func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "versiongate-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder.path)
    }

    private func arguments(_ certificate: TestCertificate) -> [String] {
        ["--tls-certificate", certificate.certificate, "--tls-key", certificate.key]
    }

    /// The subject of the certificate that a server shows, and the protocol that was agreed on.
    private static func handshake(_ server: ServingBinary, _ arguments: [String]) async throws -> String {
        let address = server.publicURL.replacing("https://", with: "")
        let result = try await run(
            .name("openssl"),
            arguments: Arguments(["s_client", "-connect", address] + arguments),
            input: .string(""),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        return result.standardOutput + result.standardError
    }

    @Test("answers checks with TLS 1.2 and 1.3 and HTTP/1.1, and none with TLS 1.1")
    func answersChecks() async throws {
        try await withFolder { folder in
            let certificate = try await TestCertificate(in: folder, name: "first")
            let binary = BuiltBinary(environment: ["DATABASE_URL": Self.noDatabase])
            try await ServingBinary.run(binary, arguments: arguments(certificate)) { server in
                #expect(server.publicURL.hasPrefix("https://"))
                #expect(server.managementURL.hasPrefix("http://"))
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.trustRoots = .file(certificate.certificate)
                let client = HTTPClient(
                    eventLoopGroupProvider: .singleton,
                    configuration: HTTPClient.Configuration(tlsConfiguration: tls)
                )
                var request = HTTPClientRequest(url: server.publicURL + "/v1/check")
                request.method = .POST
                request.body = .bytes(ByteBuffer(string: #"{"bundle":"a"}"#))
                var answers: [String] = []
                do {
                    for _ in 1...3 {
                        let response = try await client.execute(request, timeout: .seconds(10))
                        answers.append(String(buffer: try await response.body.collect(upTo: 1 << 20)))
                    }
                    try await client.shutdown()
                } catch {
                    try await client.shutdown()
                    throw error
                }
                #expect(answers == Array(repeating: #"{"messages":[]}"#, count: 3))

                let new = try await Self.handshake(server, ["-alpn", "h2,http/1.1"])
                #expect(new.contains("ALPN protocol: http/1.1"), "\(new)")
                #expect(new.contains("TLSv1.3"))
                #expect(try await Self.handshake(server, ["-tls1_2"]).contains("TLSv1.2"))
                let old = try await Self.handshake(server, ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
                #expect(old.contains("alert protocol version") || old.contains("wrong version"), "\(old)")
            }
        }
    }

    @Test("shows new connections a new certificate after SIGHUP, and keeps the old one when the new cannot be used")
    func readsTheCertificateAgain() async throws {
        try await withFolder { folder in
            let certificate = try await TestCertificate(in: folder, name: "first")
            let second = try await TestCertificate(in: folder, name: "second")
            let binary = BuiltBinary(environment: ["DATABASE_URL": Self.noDatabase])
            let ending = try await ServingBinary.run(binary, arguments: arguments(certificate)) { server in
                #expect(try await Self.handshake(server, []).contains("CN = first"))
                try certificate.replace(with: second)
                kill(server.processIdentifier, SIGHUP)
                var shown = ""
                for _ in 1...200 where !shown.contains("CN = second") {
                    shown = try await Self.handshake(server, [])
                }
                #expect(shown.contains("CN = second"))
                try Data("nonsense".utf8).write(to: URL(fileURLWithPath: certificate.certificate))
                kill(server.processIdentifier, SIGHUP)
                #expect(try await Self.handshake(server, []).contains("CN = second"))
            }
            #expect(ending.status == 0)
            #expect(ending.errors.contains("The TLS certificate was read again"))
        }
    }

    @Test("ends a handshake that takes too long, and one that is none, and goes on answering")
    func endsSlowHandshakes() async throws {
        try await withFolder { folder in
            let certificate = try await TestCertificate(in: folder, name: "first")
            let binary = BuiltBinary(
                environment: ["DATABASE_URL": Self.noDatabase, "VERSIONGATE_HEADER_TIMEOUT": "0.3"]
            )
            try await ServingBinary.run(binary, arguments: arguments(certificate)) { server in
                for beginning in ["", "\u{16}\u{3}\u{1}", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"] {
                    let isEnded = try await PlainConnection.isEnded(server.publicURL, after: beginning)
                    #expect(isEnded)
                }
                let shown = try await Self.handshake(server, [])
                #expect(shown.contains("CN = first"))
            }
        }
    }

    @Test("is not started with files that cannot be used, and each fault is named")
    func refusesFiles() async throws {
        try await withFolder { folder in
            let first = try await TestCertificate(in: folder, name: "first")
            let second = try await TestCertificate(in: folder, name: "second")
            try Data("nonsense".utf8).write(to: URL(fileURLWithPath: folder + "/nonsense"))
            let binary = BuiltBinary(environment: ["DATABASE_URL": Self.noDatabase])
            for (certificate, key, fault) in [
                (first.certificate, nil, "without --tls-key"), (nil, first.key, "without --tls-certificate"),
                (folder + "/none", first.key, "/none"), (first.certificate, folder + "/none", "/none"),
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
