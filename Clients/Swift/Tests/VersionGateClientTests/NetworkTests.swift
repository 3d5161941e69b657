import Foundation
import Testing
import VersionGateClient

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The transport of the library, over sockets.
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

    /// A check of an app, which ends after 2 seconds, and without an answer.
    ///
    /// On a machine that is so slow that storage is not read in that time, it does not give what is kept either.
    private static func checkAsApps(_ server: URL) async throws {
        let storage = MemoryStorage(kept)
        let gate = try VersionGate(server: server, app: app, storage: storage, clock: clock, observer: { _ in })
        let ids = await gate.check().map(\.id)
        #expect(ids == ["kept"] || ids.isEmpty)
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

    @Test("A server can be behind a path", arguments: ["/gate", "/gate/"])
    func path(_ path: String) async throws {
        let server = try LoopbackServer(body: Self.news)
        #expect(try await Self.check(server.url.appendingPathComponent(path)) == ["news"])
        #expect(server.requests.map(\.head.first) == ["POST /gate/v1/check HTTP/1.1"])
    }

    @Test("An answer in pieces, and one without a length, are read")
    func pieces() async throws {
        let chunked = try LoopbackServer { connection in
            connection.write(Self.ok + "Transfer-Encoding: chunked\r\n\r\n")
            for character in Self.news { connection.write("1\r\n\(character)\r\n") }
            connection.write("0\r\n\r\n")
        }
        #expect(try await Self.check(chunked.url) == ["news"])
        let closing = try LoopbackServer { $0.write(Self.ok + "Connection: close\r\n\r\n" + Self.news) }
        #expect(try await Self.check(closing.url) == ["news"])
    }

    @Test("Nothing listens")
    func away() async throws {
        let (socket, port) = try LoopbackServer.listen(backlog: 1)
        close(socket)
        #expect(try await Self.check(try #require(URL(string: "http://127.0.0.1:\(port)"))) == ["kept"])
    }

    @Test("A page of a captive portal is no answer")
    func portal() async throws {
        let page = "<!DOCTYPE html><title>Welcome</title><form action=/terms></form>"
        let server = try LoopbackServer(headers: ["Content-Type: text/html"], body: page)
        #expect(try await Self.check(server.url) == ["kept"])
        #expect(server.requests.count == 1)
    }

    @Test(
        "Another status is no answer",
        arguments: ["500 Internal Server Error", "503 Busy", "404 Not Found", "400 Bad", "201 Created", "401 Who"]
    )
    func status(_ status: String) async throws {
        let server = try LoopbackServer(status: status, body: Self.news)
        #expect(try await Self.check(server.url) == ["kept"])
        #expect(server.requests.count == 1)
    }

    @Test("A name and a password that are asked for are not given, and not waited for", arguments: ["Basic", "Digest"])
    func challenge(_ scheme: String) async throws {
        let challenge = #"WWW-Authenticate: \#(scheme) realm="gate", nonce="a""#
        let server = try LoopbackServer(status: "401 Who", headers: [challenge, "Connection: close"], body: Self.news)
        #expect(try await Self.check(server.url) == ["kept"])
        #expect(server.requests.count == 1)
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

    @Test("A connection that is reset gives no answer", arguments: ["", ok, ok + "Content-Length: 500\r\n\r\n{\"mess"])
    func reset(_ before: String) async throws {
        let server = try LoopbackServer { connection in
            connection.write(before)
            connection.reset()
        }
        #expect(try await Self.check(server.url) == ["kept"])
    }

    @Test("An answer that ends before its length is none")
    func truncated() async throws {
        let server = try LoopbackServer { connection in
            connection.write(Self.ok + "Content-Length: \(Self.news.utf8.count + 1)\r\n\r\n" + Self.news)
        }
        #expect(try await Self.check(server.url) == ["kept"])
    }

    @Test("What is no HTTP is no answer", arguments: ["SSH-2.0-OpenSSH_9.6\r\n", "\u{0}\u{1}\u{2}", "\r\n\r\n\r\n"])
    func otherProtocol(_ text: String) async throws {
        let server = try LoopbackServer { $0.write(text) }
        #expect(try await Self.check(server.url) == ["kept"])
    }

    @Test("An answer of 1 MiB is read")
    func large() async throws {
        let body = Self.news + String(repeating: " ", count: (1 << 20) - Self.news.utf8.count)
        #expect(try await Self.check(try LoopbackServer(body: body).url) == ["news"])
    }

    @Test("An answer of more than 1 MiB is none")
    func tooLarge() async throws {
        let body = Self.news + String(repeating: " ", count: (1 << 20) + 1 - Self.news.utf8.count)
        #expect(try await Self.check(try LoopbackServer(body: body).url) == ["kept"])
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

    // MARK: Given up

    @Test("A server that does not accept connections is given up")
    func stallAtConnect() async throws {
        let (socket, port) = try LoopbackServer.listen(backlog: 0)
        // Those fill the queue of the listener. The next one waits.
        let others = (0..<32).map { _ in LoopbackServer.stream() }
        for other in others { LoopbackServer.beginConnecting(other, to: port) }
        try await Self.checkAsApps(try #require(URL(string: "http://127.0.0.1:\(port)")))
        for socket in others + [socket] { close(socket) }
    }

    static let beginnings = [
        "", "HTTP/1.1 200 O", ok, ok + "Content-Length: 500\r\n\r\n{\"mess", ok + "Connection: close\r\n\r\n" + news,
    ]

    @Test("A server that falls silent is given up", arguments: beginnings)
    func silent(_ before: String) async throws {
        let server = try LoopbackServer { connection in
            connection.write(before)
            connection.waitForClose()
        }
        try await Self.checkAsApps(server.url)
    }

    @Test("An answer that comes byte by byte, for ever, is given up")
    func drip() async throws {
        let server = try LoopbackServer { connection in
            connection.write(Self.ok + "Content-Length: 500000\r\n\r\n{")
            repeat { Thread.sleep(forTimeInterval: 0.05) } while connection.write(" ")
        }
        try await Self.checkAsApps(server.url)
    }

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

    // MARK: Many

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

    // MARK: TLS

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
