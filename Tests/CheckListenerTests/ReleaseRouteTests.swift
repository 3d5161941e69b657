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
        #expect(try listener.statuses(connection) == [201])
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
        #expect(try listener.statuses(connection) == [401, 200])
    }

    @Test("A release that is not recorded in time, or has no room, is refused, and the connection goes on")
    func isLate() throws {
        let records = Records(room: 1)
        let listener = try EmbeddedListener(releases: records.recorder)
        let (late, other) = (try listener.connect(), try listener.connect())
        try late.receive(Self.release + Self.check)
        try other.receive(Self.release + Self.check)
        #expect(try listener.statuses(other) == [503, 200])
        listener.eventLoop.advanceTime(by: .seconds(9))
        #expect(try late.sent().isEmpty)
        listener.eventLoop.advanceTime(by: .seconds(2))
        let responses = try late.responses()
        #expect(responses.map(\.status) == [503, 200])
        #expect(responses.first?.headers["retry-after"] == "5")
        #expect(responses.first?.body.contains("Send it again: what is recorded already is not changed") == true)
        // What comes of it now is nobody's answer.
        records.answer(.recorded(document: "{}", isNew: true))
        listener.eventLoop.run()
        #expect(try late.sent().isEmpty)
    }
}
