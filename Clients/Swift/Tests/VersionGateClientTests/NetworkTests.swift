import Foundation
import Testing
import VersionGateClient

/// What the session of each system does by itself: redirects, encodings, certificates, and how a question ends.
///
/// `Tests/Clients/bad_networks.py` has all else that can go wrong.
@Suite("Network")
struct NetworkTests {
    private static let news = #"{"messages":[{"id":"news","title":"News","text":"Lists."}]}"#
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

    /// What is kept in storage: a failed check shows this lockout, and one that succeeds does not.
    private static let kept = """
        {"answer":{"at":1790000000,"version":"1.0","lockout":{"id":"kept","title":"Blocked","text":"Update."}}}
        """

    private static let app = AppDescription(bundle: "com.example.doto", version: "1.0")
    private static let clock: @Sendable () -> Date = { Date(timeIntervalSince1970: 1_790_000_000) }

    /// A gate that is as patient as a machine is slow: its checks are given up only when `alarm` rings.
    private static func gate(
        _ server: URL,
        alarm: @escaping VersionGate.Alarm = { _, _ in }
    ) throws -> VersionGate {
        try VersionGate(
            server: server, app: app, attributes: [:], maximumAge: 7, storage: MemoryStorage(kept),
            transport: URLSessionTransport(timeLimit: 600), clock: clock, observer: { _ in }, alarm: alarm
        )
    }

    /// The ids of what a check gives.
    private static func check(_ server: URL) async throws -> [String] {
        try await gate(server).check().map(\.id)
    }

    @Test("A check asks by POST and reads the answer")
    func asks() async throws {
        let server = try LoopbackServer(headers: ["Set-Cookie: session=1; Max-Age=3600"], body: Self.news)
        let gate = try Self.gate(server.url)
        #expect(await gate.check().map(\.id) == ["news"])
        #expect(await gate.check(force: true).map(\.id) == ["news"])
        let requests = server.requests
        #expect(requests.count == 2)
        for request in requests {
            #expect(request.head.first == "POST /v1/check HTTP/1.1")
            #expect(request.header("Content-Type") == "application/json")
            #expect(request.header("User-Agent") == "VersionGateClient")
            #expect(request.header("Accept-Language") == "*")
            #expect(request.header("Accept-Encoding") == "identity")
            #expect(request.header("Cookie") == nil)
            let body = try JSONDecoder().decode([String: String].self, from: request.body)
            #expect(Set(body.keys) == ["bundle", "version", "install"])
        }
    }

    @Test("A redirect is not followed", arguments: ["301 Moved", "302 Found", "303 Other", "307 Same", "308 For good"])
    func redirect(_ status: String) async throws {
        let other = try LoopbackServer(body: Self.news)
        let server = try LoopbackServer(
            status: status, headers: ["Location: \(other.url.absoluteString)/v1/check"], body: Self.news
        )
        #expect(try await Self.check(server.url) == ["kept"])
        #expect(server.requests.count == 1)
        #expect(other.requests.isEmpty)
    }

    @Test("A small body that becomes large is not read", arguments: ["gzip", "deflate", "br", "x"])
    func encoded(_ encoding: String) async throws {
        let folder = try TemporaryFolder()
        try await Command.run("head -c 100000000 /dev/zero | tr '\\0' ' ' | gzip > body", in: folder)
        let body = try Data(contentsOf: folder["body"])
        let (closed, close) = AsyncStream<Void>.makeStream()
        let server = try LoopbackServer { connection in
            connection.write(Self.ok + "Content-Encoding: \(encoding)\r\nContent-Length: \(body.count + 1)\r\n\r\n")
            connection.write(body)
            // The last byte never comes: the client refuses the answer by its head.
            connection.waitForClose()
            close.finish()
        }
        #expect(try await Self.check(server.url) == ["kept"])
        for await _ in closed {}
    }

    @Test("An answer without an end is given up when it is larger than 1 MiB")
    func endless() async throws {
        let server = try LoopbackServer { connection in
            connection.write(Self.ok + "Connection: close\r\n\r\n" + Self.news)
            let blanks = String(repeating: " ", count: 65_536)
            while connection.write(blanks) {}
        }
        #expect(try await Self.check(server.url) == ["kept"])
    }

    static let beginnings = ["", ok, ok + "Content-Length: 500\r\n\r\n{\"mess"]

    @Test("The connection of a question that is given up is closed", arguments: beginnings)
    func closed(_ before: String) async throws {
        let rings = Locked<[@Sendable () -> Void]>([])
        let (closed, close) = AsyncStream<Void>.makeStream()
        let server = try LoopbackServer { connection in
            connection.write(before)
            for ring in rings.withLock({ $0 }) { ring() }
            connection.waitForClose()
            close.finish()
        }
        let gate = try Self.gate(server.url) { seconds, ring in
            if seconds == 2 { rings.withLock { $0.append(ring) } }
        }
        #expect(await gate.check().map(\.id) == ["kept"])
        for await _ in closed {}
    }

    @Test("Many checks at once end, each with its own answer")
    func many() async throws {
        let server = try LoopbackServer { connection in
            switch Int.random(in: 0..<3) {
            case 0: connection.write(Self.ok + "Content-Length: \(Self.news.utf8.count)\r\n\r\n" + Self.news)
            case 1: connection.reset()
            default: connection.write("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
            }
        }
        for _ in 0..<10 {
            try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<30 { group.addTask { try await Self.check(server.url) } }
                for try await ids in group { #expect(ids == ["news"] || ids == ["kept"]) }
            }
        }
        #expect(server.requests.count == 300)
    }

    @Test("A certificate that has expired, and one that nobody knows, are not taken", arguments: ["-1", "2"])
    func certificate(days: String) async throws {
        let folder = try TemporaryFolder()
        try "subjectAltName=IP:127.0.0.1\n".write(to: folder["names"], atomically: true, encoding: .utf8)
        try await Command.run(
            """
            openssl req -newkey rsa:2048 -nodes -keyout key -out request -subj /CN=localhost
            openssl x509 -req -in request -signkey key -days \(days) -extfile names -out certificate
            """,
            in: folder
        )
        let answer = Self.ok + "Content-Length: \(Self.news.utf8.count)\r\n\r\n" + Self.news
        let server = try await TLSServer.start(in: folder, answer: answer)
        #expect(try await Self.check(try #require(URL(string: "https://127.0.0.1:\(server.port)"))) == ["kept"])
        // What failed is not the connection: the client looked at the certificate, and said no.
        let said = try await server.end()
        #expect(said.contains("alert"), "\(said)")
    }
}
