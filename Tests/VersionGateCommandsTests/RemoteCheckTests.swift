import Foundation
import NIOCore
import NIOHTTP1
import TestRandom
import TestSystem
import Testing

@testable import VersionGateCommands

@Suite("Checks of a running server", .whole, .timeLimit(.minutes(20)))
struct RemoteCheckTests {
    private let binary = BuiltBinary(environment: [:])

    private func errors(_ server: String) async throws -> String {
        let result = try await binary.run("check --server \(server) bundle=a version=1")
        #expect(result.status == 1)
        return result.errors
    }

    @Test("The question is one POST of JSON, and the answer is printed as it came")
    func posts() async throws {
        try await ScriptedServer.run(answering: { _ in .response(.ok, [:], #"{"messages":[]}"#) }) { server, port in
            let result = try await binary.run("check --server http://127.0.0.1:\(port)/x/ --format json bundle=a os=17")
            #expect(result.output == "{\"messages\":[]}\n")
            let requests = server.takeRequests()
            let request = try #require(requests.first)
            #expect(request.method == .POST && request.target == "/x/v1/check")
            #expect(request.body == #"{"bundle":"a","os":"17"}"#)
            #expect(request.headers.first(name: "host") == "127.0.0.1:\(port)")
            #expect(request.headers.first(name: "content-type") == "application/json")
            #expect(requests.count == 1)
        }
    }

    /// What a server does wrong, by the first part of the path.
    private static func failure(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        switch request.target.split(separator: "/").first {
        case "on": .response(.permanentRedirect, ["Location": "https://b.example/v1/check"])
        case "large": .response(.ok, [:], String(repeating: "x", count: (16 << 20) + 1))
        case "fault": .response(.serviceUnavailable, [:], "Later.")
        default: .end
        }
    }

    @Test("A server that sends on, ends without an answer or answers too much is said to do so")
    func failures() async throws {
        try await ScriptedServer.run(answering: Self.failure) { server, port in
            let address = "http://127.0.0.1:\(port)"
            for (path, fault) in [
                ("on", "sends on to https://b.example/v1/check; give the address"),
                ("large", "its answer is too large"), ("fault", "answered 503 Service Unavailable: Later."),
                ("end", "closed the connection without an answer"),
            ] {
                let errors = try await errors("\(address)/\(path)")
                #expect(errors.contains(fault), "\(errors)")
                #expect(server.takeRequests().count == 1)
            }
        }
    }

    @Test("A server that does not answer is given up")
    func givesUp() async throws {
        try await ScriptedServer.run(answering: { _ in .silence }) { _, port in
            let address = try #require(HTTPExchange.Address("http://127.0.0.1:\(port)/v1/check"))
            let error = await #expect(throws: HTTPExchange.Failure.self) {
                try await HTTPExchange(
                    address: address, method: .POST, headers: [:], body: "{}", limit: .milliseconds(100)
                ).answer()
            }
            #expect(error == .late)
        }
    }

    @Test("The certificate of a server must be trusted and for its name; a listener with TLS is said to be one")
    func trust() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let certificate = try await TestCertificate(in: folder.path, name: "first")
        let serving = BuiltBinary.withoutDatabase()
        let arguments = ["--tls-certificate", certificate.certificate, "--tls-key", certificate.key]
        try await ServingBinary.run(serving, arguments: arguments) { server in
            #expect(try await errors(server.publicURL).contains("its certificate is not trusted on this machine"))
            let plain = server.publicURL.replacing("https:", with: "http:")
            #expect(try await errors(plain).contains("write \(server.publicURL)"))
            let answer = try await HTTPAnswer(
                server.publicURL + "/v1/check", method: .POST, body: #"{"bundle":"a"}"#,
                trusting: certificate.certificate
            )
            #expect(answer.body == #"{"messages":[]}"#)
        }
    }

    @Test("An address names host, port and path, also of IPv6")
    func addresses() throws {
        let whole = try #require(HTTPExchange.Address("HTTPS://[::1]:8443/a%20b?c"))
        #expect(whole.isSecure && whole.host == "::1" && whole.port == 8443 && whole.path == "/a%20b?c")
        let short = try #require(HTTPExchange.Address("http://a.example/v1/check"))
        #expect(!short.isSecure && short.host == "a.example" && short.port == 80)
        #expect(HTTPExchange.Address("http:///v1/check") == nil)
    }
}
