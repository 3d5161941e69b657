import NIOCore
import NIOEmbedded
import Synchronization
import TestPolicies
import Testing
import UpdatePolicy

@testable import CheckListener

/// The way of a release from a connection to what records it, and back.
@Suite("Release route")
struct ReleaseRouteTests {
    /// What records releases when the test says so.
    private final class Records: Sendable {
        private typealias Held = (release: SentRelease, deliver: @Sendable (SentRelease.Answer) -> Void)
        private let held = Mutex<[Held]>([])
        let room: Int

        init(room: Int = .max) { self.room = room }

        var recorder: SentRelease.Recorder {
            { [self] release, deliver in
                held.withLock { held in
                    guard held.count < room else { return false }
                    held.append((release, deliver))
                    return true
                }
            }
        }

        /// What was sent: the token and the body.
        var sent: [String] {
            held.withLock {
                $0.map { "\($0.release.token ?? "nobody"): \(String(decoding: $0.release.body, as: UTF8.self))" }
            }
        }

        /// Answers all that was sent.
        func answer(_ answer: SentRelease.Answer) {
            let held = held.withLock { held in
                defer { held = [] }
                return held
            }
            for one in held { one.deliver(answer) }
        }
    }

    private static let check = "GET /v1/check?bundle=com.example.doto HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let release = ListenerFixture.post("{}", to: "/v1/releases", headers: "Authorization: Bearer t\r\n")

    @Test(
        "A release comes with its token and its body, however they are sent",
        arguments: [
            (release, "t: {}"),
            (ListenerFixture.post("", to: "/v1/releases?x=1"), "nobody: "),
            (ListenerFixture.post("{}", to: "/v1/releases", headers: "authorization: BEARER   t u\r\n"), "t u: {}"),
            (ListenerFixture.post("{}", to: "/v1/releases", headers: "Authorization: Basic t\r\n"), "nobody: {}"),
            (ListenerFixture.post("{}", to: "/v1/releases", headers: "Authorization: Bearer\r\n"), "nobody: {}"),
            (
                ListenerFixture.post(
                    "{}", to: "/v1/releases", headers: "Authorization: Bearer t\r\nAuthorization: Bearer u\r\n"
                ), "nobody: {}"
            ),
            (
                "POST /v1/releases HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n", "t: {}"
            ),
            (
                "POST http://a/v1/releases HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\nContent-Length: 16384\r\n\r\n"
                    + String(repeating: "x", count: 16_384), "t: \(String(repeating: "x", count: 16_384))"
            ),
        ]
    )
    func takesReleases(request: String, sent: String) throws {
        let records = Records()
        let listener = try EmbeddedListener(releases: records.recorder)
        let connection = try listener.connect()
        try connection.receive(request)
        listener.eventLoop.run()
        #expect(records.sent == [sent])
        records.answer(.recorded(document: "{}", isNew: true))
        listener.eventLoop.run()
        #expect(try connection.responses().map(\.status) == [201])
    }

    @Test("What became of a release is a status with what belongs to it")
    func hasStatuses() throws {
        let records = Records()
        let listener = try EmbeddedListener(releases: records.recorder)
        let answers: [(SentRelease.Answer, Int, String?, String?)] = [
            (.recorded(document: "{}", isNew: true), 201, nil, nil),
            (.recorded(document: "{}", isNew: false), 200, nil, nil),
            (.unreadable("It is strange."), 400, nil, "It is strange."),
            (.unauthorized, 401, "Bearer", "The token is missing or wrong"),
            (.conflict("It is other."), 409, nil, "It is other."),
            (.refused("It is none."), 422, nil, "It is none."),
            (.unavailable, 503, nil, "Send it again"),
        ]
        for (answer, status, challenge, detail) in answers {
            let connection = try listener.connect()
            try connection.receive(Self.release)
            records.answer(answer)
            listener.eventLoop.run()
            let response = try #require(try connection.responses().first)
            #expect(response.status == status)
            #expect(response.headers["www-authenticate"] == challenge)
            #expect(response.headers["retry-after"] == (status == 503 ? "5" : nil))
            #expect(
                response.headers["content-type"] == (detail == nil ? "application/json" : "application/problem+json"))
            #expect(detail.map { response.body.contains($0) } ?? (response.body == "{}"))
        }
        #expect(
            listener.statistics.requests[RequestKind(route: .releases, method: .post, status: 401)]?.count
                == 1
        )
    }

    @Test(
        "A release that waits holds what comes after it on its connection, and neither checks nor documents elsewhere")
    func keepsNobodyWaiting() throws {
        let records = Records()
        let listener = try EmbeddedListener(releases: records.recorder)
        let (connection, other) = (try listener.connect(), try listener.connect())
        try connection.receive(Self.release + Self.check)
        for request in [
            Self.check, "GET /v1/feeds/com.example.doto/updates.json HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /v1/gate?bundle=com.example.doto&version=1.1 HTTP/1.1\r\nHost: a\r\n\r\n",
        ] {
            #expect(try listener.ask(request, on: other).status / 100 == 2)
        }
        #expect(try connection.sent().isEmpty)
        records.answer(.unauthorized)
        listener.eventLoop.run()
        #expect(try connection.responses().map(\.status) == [401, 200])
    }

    @Test("A release that is not recorded in time, or has no room, is refused, and the connection goes on")
    func isLate() throws {
        let records = Records(room: 1)
        let listener = try EmbeddedListener(releases: records.recorder)
        let (late, other) = (try listener.connect(), try listener.connect())
        try late.receive(Self.release + Self.check)
        try other.receive(Self.release + Self.check)
        listener.eventLoop.run()
        #expect(try other.responses().map(\.status) == [503, 200])
        listener.eventLoop.advanceTime(by: .seconds(9))
        #expect(try late.sent().isEmpty)
        listener.eventLoop.advanceTime(by: .seconds(2))
        #expect(try late.responses().map(\.status) == [503, 200])
        // What comes of it now is nobody's answer.
        records.answer(.recorded(document: "{}", isNew: true))
        listener.eventLoop.run()
        #expect(try late.sent().isEmpty)
    }

    @Test("Releases are refused as checks are, and where none are taken there is nothing at their path")
    func refuses() throws {
        let large = "POST /v1/releases HTTP/1.1\r\nHost: a\r\nContent-Length: 16385\r\n\r\n"
        let requests: [(String, Int)] = [
            (large, 413), (ListenerFixture.post("{}", to: "/v1/releases", headers: "Content-Encoding: gzip\r\n"), 415),
            ("GET /v1/releases HTTP/1.1\r\nHost: a\r\n\r\n", 405),
            (ListenerFixture.post("{}", to: "/v1/releases/"), 404),
        ]
        let records = Records()
        let (taking, other) = (try EmbeddedListener(releases: records.recorder), try EmbeddedListener())
        for (request, status) in requests {
            #expect(try taking.ask(request).status == status)
            #expect(try other.ask(request) == other.ask(request.replacing("/releases", with: "/nothing")))
            #expect(try other.ask(request).status == 404)
        }
        #expect(try other.ask(Self.release).status == 404)
        #expect(records.sent.isEmpty)
        #expect(other.statistics.requests.keys.allSatisfy { $0.route == .other })
    }
}
