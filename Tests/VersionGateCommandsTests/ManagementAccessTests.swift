import NIOCore
import NIOHTTP1
import TestRandom
import TestSystem
import Testing

@Suite("Management access", .whole)
struct ManagementAccessTests {
    @Test("Connections that say nothing keep nobody from being answered, and are closed soon")
    func survivesSilence() async throws {
        try await ServingBinary.run(.withoutDatabase()) { server in
            var silent: [any Channel] = []
            for _ in 1...200 {
                silent.append(try await PlainConnection.open(server.managementURL))
                if silent.count % 50 == 0 {
                    #expect(try await server.management("/live").status == 200)
                    #expect(try await server.management("/ready").status == 503, "there is no policy")
                }
            }
            let head = "GET /live HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
            #expect(try await PlainConnection.isEnded(server.managementURL, after: head))
            for channel in silent { try await channel.closeFuture.get() }
            #expect(try await server.management("/live").status == 200)
        }
    }

    @Test("A Host that is neither an address nor known is refused with the option that allows it")
    func refusesOtherHosts() async throws {
        try await ServingBinary.run(.withoutDatabase(), arguments: ["--management-names", "gate.internal"]) {
            server in
            for path in [
                "/live", "/ready", "/policy", "/metrics", "/openapi.yaml", "/openapi-server.yaml", "/nothing",
            ] {
                let refusal = try await HTTPAnswer(server.managementURL + path, ["Host": "evil.example:9090"])
                #expect(refusal.status == 421)
                #expect(refusal.body.contains(#"the Host \"evil.example:9090\" is not known"#), "\(refusal.body)")
                #expect(refusal.body.contains("--management-names (VERSIONGATE_MANAGEMENT_NAMES)"))
            }
            for host in ["gate.internal", "GATE.internal:9090", "localhost", "127.0.0.1", "[::1]:9090"] {
                let answer = try await HTTPAnswer(server.managementURL + "/live", ["Host": host])
                #expect(answer.status == 200, "\(host)")
            }
        }
    }

    @Test("Health checks may ask by HEAD, and other methods are told which there are")
    func knowsMethods() async throws {
        try await ServingBinary.run(.withoutDatabase()) { server in
            for (path, status) in [
                ("/live", 200), ("/ready", 503), ("/policy", 200), ("/metrics", 200), ("/openapi.yaml", 200),
                ("/openapi-server.yaml", 200),
            ] {
                let head = try await HTTPAnswer(server.managementURL + path, method: .HEAD)
                #expect(head.status == status, "\(path)")
                #expect(head.body == "", "\(path)")
                for method in [HTTPMethod.POST, .PUT, .DELETE, .OPTIONS, .TRACE, .PROPFIND] {
                    let refusal = try await HTTPAnswer(server.managementURL + path, method: method)
                    #expect(refusal.status == 405, "\(method) \(path)")
                    #expect(refusal.headers["Allow"] == ["GET, HEAD"])
                }
            }
        }
    }
}
