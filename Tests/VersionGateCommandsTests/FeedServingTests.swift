import Foundation
import NIOHTTP1
import TestDatabase
import TestFeeds
import TestRandom
import TestSystem
import Testing

@Suite("Serving feeds", .whole, .migratedDatabase, .timeLimit(.minutes(20)))
struct FeedServingTests {
    private static let feeds = "/v1/feeds/com.example.doto"

    /// The clients of the story, and where they ask.
    private static let readers: [(reader: FeedReader, path: String)] = [
        (.iVersion, "\(feeds)/iversion.plist"), (.updates, "\(feeds)/updates.json"),
        (.upgrader, "\(feeds)/appcast.xml?for=flutter&platform=ios"),
    ]

    /// An app with two releases.
    private static let app = """
        INSERT INTO apps (bundle, name, store_id) VALUES ('com.example.doto', 'Doto', 123456789);
        INSERT INTO store_links VALUES ('com.example.doto', 'ios', 'https://apps.apple.com/app/id123456789');
        INSERT INTO releases (bundle, platform, version, live_at)
        VALUES ('com.example.doto', 'ios', '1.0.0', '2026-01-01Z'), ('com.example.doto', 'ios', '1.1.0', '2026-01-01Z');
        """

    /// Locks out everybody below 1.1.0.
    private static let rule = """
        INSERT INTO rules (key, bundle, target, title, text, link, lockout, enabled)
        VALUES ('update-1.1', 'com.example.doto', '1.1.0', 'Please update', 'It no longer loses data.', 'store', true, true);
        """

    @Test("One rule reaches the clients of an iVersion, an Updates and an upgrader app")
    func dayOfAReleaseManager() async throws {
        try await TestDatabase.current.edit(Self.app)
        @Sendable func decisions(_ server: ServingBinary, _ version: String) async throws -> [ReaderDecision] {
            var decisions: [ReaderDecision] = []
            for (reader, path) in Self.readers {
                let answer = try await HTTPAnswer(server.publicURL + path)
                #expect(answer.status == 200)
                let host = ReaderHost(version: version, build: 1, os: "17.0", platform: "ios")
                decisions.append(reader.decision(Data(answer.body.utf8), host))
            }
            return decisions
        }
        try await ServingBinary.run(.server()) { server in
            let nothing = [ReaderDecision](repeating: .nothing, count: 3)
            #expect(try await decisions(server, "1.0.0") == nothing)
            try await TestDatabase.current.edit(Self.rule)
            let lockout = ReaderDecision.lockout("1.1.0")
            try await Poll.until("the rule to be live") {
                try await HTTPAnswer(server.publicURL + Self.readers[0].path).body.contains("It no longer loses data.")
            }
            // iVersion cannot lock out.
            #expect(try await decisions(server, "1.0.0") == [.prompt("1.1.0"), lockout, lockout])
            #expect(try await decisions(server, "1.1.0") == nothing)
        }
    }

    @Test(
        "nginx refuses an old app at an API with the messages, and leaves the API open when versiongate is down",
        .enabled(if: Nginx.program != nil, "nginx is not installed")
    )
    func guardsAnAPI() async throws {
        try await TestDatabase.current.edit(Self.app, Self.rule)
        let old: HTTPHeaders = ["App-Bundle": "com.example.doto", "App-Version": "1.0.0", "App-Platform": "ios"]
        let new: HTTPHeaders = ["App-Bundle": "com.example.doto", "App-Version": "1.1.0", "App-Platform": "ios"]
        try await ServingBinary.run(.server()) { server in
            try await server.check(#"{"bundle":"com.example.doto","version":"1.0.0","platform":"ios"}"#) {
                $0.contains("lockout")
            }
            let port = try #require(URL(string: server.publicURL)?.port)
            // The API of the test is the management listener of the server.
            let api = try #require(URL(string: server.managementURL)?.port)
            try await Nginx.run(inFrontOf: (port, port), guarding: api, patience: "60s") { gateway in
                let live = "http://127.0.0.1:\(gateway)/live"
                let refused = try await HTTPAnswer(live, old)
                #expect(refused.status == 426)
                #expect(refused.headers.first(name: "app-lockout") == "update-1.1")
                #expect(refused.headers.first(name: "content-type") == "application/json")
                #expect(refused.body.hasPrefix(#"{"messages":[{"id":"update-1.1""#) && refused.body.hasSuffix("}]}"))
                var posting = old
                posting.add(name: "Content-Encoding", value: "gzip")
                #expect(try await HTTPAnswer(live, method: .POST, posting).status == 426)
                for passing in [new, [:]] {
                    let answer = try await HTTPAnswer(live, passing)
                    #expect(answer.status == 200 && answer.body == #"{"live":true}"#)
                }
                #expect(try await HTTPAnswer("http://127.0.0.1:\(gateway)/nowhere", new).status == 404)
                // The question is nginx's own: asked from outside, it says nothing.
                #expect(try await HTTPAnswer("http://127.0.0.1:\(gateway)/versiongate-gate", old).status == 204)
            }
            let nobody = try await FreePort.choose()
            try await Nginx.run(inFrontOf: (nobody, nobody), guarding: api) { gateway in
                let answer = try await HTTPAnswer("http://127.0.0.1:\(gateway)/live", old)
                #expect(answer.status == 200 && answer.body == #"{"live":true}"#)
            }
        }
    }
}
