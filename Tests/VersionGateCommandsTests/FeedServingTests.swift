import Foundation
import NIOHTTP1
import TestDatabase
import TestFeeds
import TestRandom
import TestSystem
import Testing

@Suite("Serving feeds", .whole, .migratedDatabase, .timeLimit(.minutes(20)))
struct FeedServingTests {
    private let versiongate = BuiltBinary(.current)
    private let serving = BuiltBinary.server()

    private static let bundle = "com.example.doto"
    private static let feeds = "/v1/feeds/\(bundle)"

    /// The clients of the story, and where they ask.
    private static let readers: [(reader: FeedReader, path: String)] = [
        (.iVersion, "\(feeds)/iversion.plist"), (.updates, "\(feeds)/updates.json"),
        (.upgrader, "\(feeds)/appcast.xml?for=flutter&platform=ios"),
    ]

    /// Runs a command, which must succeed.
    private func edit(_ command: String...) async throws {
        try await edit(command)
    }

    private func edit(_ command: [String]) async throws {
        let result = try await versiongate.run(arguments: command)
        try #require(result.status == 0, "\(command.joined(separator: " "))\n\(result.errors)")
    }

    private func prepare() async throws {
        let link = "ios=https://apps.apple.com/app/id123456789"
        try await edit("app", "add", Self.bundle, "--name", "Doto", "--store-id", "123456789", "--store-link", link)
        for version in ["1.0.0", "1.1.0"] {
            let live = ["--platform", "ios", "--live-at", "2026-01-01T00:00:00Z"]
            try await edit(["release", "add", Self.bundle, version] + live)
        }
    }

    /// Asks everybody below 1.1.0 to update.
    private func addRule(_ options: String...) async throws {
        let rule = ["--bundle", Self.bundle, "--target", "1.1.0", "--link", "store", "--enable", "--yes"]
        let words = ["--title", "Please update", "--text", "It no longer loses data."]
        try await edit(["rule", "add", "update-1.1"] + rule + words + options)
    }

    @Test("One rule reaches the clients of an iVersion, an Updates and an upgrader app")
    func dayOfAReleaseManager() async throws {
        try await prepare()
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
        try await ServingBinary.run(serving) { server in
            let nothing = [ReaderDecision](repeating: .nothing, count: 3)
            #expect(try await decisions(server, "1.0.0") == nothing)
            try await addRule("--lockout")
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
        try await prepare()
        try await addRule("--lockout")
        let old: HTTPHeaders = ["App-Bundle": "com.example.doto", "App-Version": "1.0.0", "App-Platform": "ios"]
        let new: HTTPHeaders = ["App-Bundle": "com.example.doto", "App-Version": "1.1.0", "App-Platform": "ios"]
        try await ServingBinary.run(serving) { server in
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
                for encoding in ["gzip", "identity"] {
                    var posting = old
                    posting.add(name: "Content-Encoding", value: encoding)
                    #expect(try await HTTPAnswer(live, method: .POST, posting).status == 426)
                }
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
