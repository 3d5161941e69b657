import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Server lifecycle", .whole)
struct LifecycleTests {
    @Test("A shutdown begins with /ready, ends the public listener once it has answered, and the management one last")
    func shutsDownInOrder() async throws {
        let ending = try await ServingBinary.run(.withoutDatabase(), arguments: ["--drain-seconds", "5"]) { server in
            let publicPort = try #require(URL(string: server.publicURL)?.port)
            // The first half of a request whose second half comes late, and of one whose second half never comes.
            let half = """
                POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: \(UpdateRule.client.utf8.count)\r\n\r\n\(UpdateRule.client.prefix(10))
                """
            let (late, lateParts) = AsyncStream.makeStream(of: String.self)
            lateParts.yield(half)
            async let answer = PlainConnection.answer(server.publicURL, to: late)
            async let noAnswer = try? PlainConnection.answer(server.publicURL, to: half)

            let signal = ContinuousClock.now
            kill(server.processIdentifier, SIGTERM)
            let ready = try await server.ready { $0.contains(#""shuttingDown":true"#) }
            #expect(ready.status == 503)
            let isOpen = await FreePort.isOpen(publicPort)
            // On a machine that is stopped for a while the drain may be over by now.
            #expect(isOpen || .now - signal >= .seconds(5), "new connections are accepted meanwhile")

            try await Poll.until("the public listener to close") { await !FreePort.isOpen(publicPort) }
            #expect(try await server.management("/ready").status == 503, "the management listener is still there")
            lateParts.yield(String(UpdateRule.client.dropFirst(10)))
            lateParts.finish()
            let response = try await answer
            #expect(response.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(response)")
            #expect(response.lowercased().contains("\r\nconnection: close\r\n"), "\(response)")
            let cutOff = await noAnswer ?? ""
            #expect(cutOff.isEmpty, "it is cut off")
        }
        #expect(ending.status == 0, "it ended by itself, before the last resort: \(ending.errors)")
    }

    @Test("The server tells systemd that it is ready, lives, and stops")
    func tellsSystemd() async throws {
        let socket = try DatagramSocket(.abstract("versiongate-test-\(UUID().uuidString)"))
        defer { socket.close() }
        let binary = BuiltBinary(environment: [
            "DATABASE_URL": "postgresql://127.0.0.1:1/nothing", "NOTIFY_SOCKET": socket.name,
            "WATCHDOG_USEC": "200000",
        ])
        let ending = try await ServingBinary.run(binary) { server in
            var messages = socket.messages.makeAsyncIterator()
            var isReady = false
            var signsOfLife = 0
            while !isReady || signsOfLife < 3, let message = await messages.next() {
                if message == "WATCHDOG=1" { signsOfLife += 1 }
                if message.hasPrefix("READY=1\nSTATUS=public \(server.publicURL), management ") { isReady = true }
            }
        }
        #expect(ending.status == 0, "\(ending.errors)")
        let end = await socket.messages.first { $0 != "WATCHDOG=1" }
        #expect(end == "STOPPING=1")
    }

    @Test("The server serves without a service manager that cannot be notified, and logs it")
    func survivesADeafServiceManager() async throws {
        let binary = BuiltBinary(environment: [
            "DATABASE_URL": "postgresql://127.0.0.1:1/nothing", "NOTIFY_SOCKET": "/nowhere/notify",
        ])
        let ending = try await ServingBinary.run(binary) { server in
            let answer = try await server.check(UpdateRule.client)
            #expect(answer == #"{"messages":[]}"#)
        }
        #expect(ending.status == 0)
        #expect(ending.errors.contains("The service manager cannot be notified"))
    }

    @Test(
        "The server answers on a socket that systemd opened",
        .enabled(if: Companion.find("systemd-socket-activate") != nil, "systemd-socket-activate is not installed")
    )
    func servesAnInheritedSocket() async throws {
        let activate = try #require(Companion.find("systemd-socket-activate"))
        let port = try await FreePort.choose()
        try await StateFolder.with { folder in
            try await Companion.run(
                [
                    activate, "--listen=127.0.0.1:\(port)", "--setenv=DATABASE_URL=postgresql://127.0.0.1:1/nothing",
                    BuiltBinary.path, "serve", "--port", "1", "--management-port", "0", "--state-dir", folder.path,
                ],
                asOwnerOf: folder.path,
                log: folder.path + "/log"
            ) {
                let server = ServingBinary(
                    publicURL: "http://127.0.0.1:\(port)", managementURL: "", processIdentifier: 0
                )
                try await Poll.until("the socket to listen") { await FreePort.isOpen(port) }
                let answer = try await server.check(UpdateRule.client)
                #expect(answer == #"{"messages":[]}"#)
            }
        }
    }

    @Test(
        "No check fails behind nginx while one of two servers is restarted again and again, and killed",
        .enabled(if: Nginx.program != nil, "nginx is not installed"), .migratedDatabase
    )
    func restartsUnderLoad() async throws {
        let database = TestDatabase.current
        let admin = try await database.connect()
        try await admin.execute(
            """
            INSERT INTO apps (bundle) VALUES ('com.example.doto');
            INSERT INTO rules (key, bundle, title, text, enabled)
            VALUES ('steady', 'com.example.doto', 'From the steady server', 'x', true);
            """
        )
        await admin.close()
        let steady = BuiltBinary.server()
        let ports = (try await FreePort.choose(), try await FreePort.choose())
        try await ServingBinary.run(steady, arguments: ["--port", "\(ports.0)"]) { server in
            try await server.check(UpdateRule.client) { $0.contains("steady") }
            try await Nginx.run(inFrontOf: ports) { port in
                let address = "http://127.0.0.1:\(port)"
                let proxy = ServingBinary(publicURL: address, managementURL: "", processIdentifier: 0)
                let count = try await SteadyChecks.at([address]) {
                    for signal in [SIGTERM, SIGKILL, SIGTERM] {
                        // The other server has no database and so no messages, which tells its answers from the others.
                        try await ServingBinary.run(.withoutDatabase(), arguments: ["--port", "\(ports.1)"]) {
                            other in
                            try await proxy.check(UpdateRule.client) { $0 == #"{"messages":[]}"# }
                            kill(other.processIdentifier, signal)
                        }
                    }
                }
                #expect(count.failures.isEmpty, "of \(count.sent) checks")
            }
        }
    }
}
