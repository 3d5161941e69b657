import Foundation
import NIOCore
import NIOEmbedded
import TestFeeds
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@testable import CheckListener

/// A policy that announces 1.2.0 and demands 1.1.0, and templates.
private enum FeedFixture {
    static let bundle = "com.example.doto"

    static let templates = [
        FeedTemplate(name: "v.json", contentType: "application/json", body: "{}"),
        FeedTemplate(
            name: "large", contentType: "text/plain",
            body: "{{#messages}}" + String(repeating: "x", count: 65_000) + "{{/messages}}"
        ),
    ]

    static func rows(everybody: Int = 0) -> Policy {
        let links = [
            StoreLink(platform: "ios", link: "https://apps.apple.com/app/id123456789"),
            StoreLink(platform: "android", link: "https://play.google.com/store/apps/details?id=d"),
            StoreLink(platform: "macos", link: "https://example.com/doto.dmg"),
        ]
        var app = App(bundle: bundle, name: "Doto") {
            $0.storeLinks = links
            $0.feedTemplates = templates
        }
        app.storeID = 123_456_789
        var umlaut = App(bundle: "com.exämple/ß", name: "Ä")
        umlaut.storeLinks = [StoreLink(platform: "ios", link: "https://apps.apple.com/app/id987654321")]
        var releases: [Release] = []
        for owner in [bundle, umlaut.bundle] {
            for platform in links.map(\.platform) {
                for (version, build) in [("1.0.0", "10"), ("1.1.0", "20"), ("1.2.0", "30")] {
                    releases.append(
                        TestPolicy.release(version) {
                            ($0.id, $0.bundle) = (Int64(releases.count + 1), owner)
                            ($0.platform, $0.build) = (platform, build)
                            if version == "1.2.0" { $0.notes = [ReleaseNote(language: "und", text: "Starts again.")] }
                        }
                    )
                }
            }
        }
        var rules = [
            TestPolicy.rule("everyday") { $0.target = "1.2.0" },
            TestPolicy.rule("security") { ($0.versions, $0.lockout) = ("<1.1.0", true) },
            TestPolicy.rule("umlaut") { ($0.bundle, $0.target) = (umlaut.bundle, "1.2.0") },
        ]
        for number in 0..<everybody { rules.append(TestPolicy.rule("message-\(number)")) }
        return Policy(revision: 7, token: "7", apps: [app, umlaut], releases: releases, rules: rules)
    }

    static func listener(everybody: Int = 0) throws -> EmbeddedListener {
        try EmbeddedListener(CurrentPolicy(CompiledPolicy(rows(everybody: everybody))))
    }
}

extension EmbeddedListener {
    /// The answer to a request of a target, on a connection of its own unless one is given.
    fileprivate func fetch(
        _ target: String,
        method: String = "GET",
        _ fields: [(name: String, value: String)] = [],
        on connection: Connection? = nil
    ) throws -> HTTPResponse {
        let lines = ["\(method) \(target) HTTP/1.1", "Host: x"] + fields.map { "\($0.name): \($0.value)" }
        return try ask(lines.joined(separator: "\r\n") + "\r\n\r\n", on: connection)
    }
}

@Suite("Feed routes", .computing, .serialized)
struct FeedRouteTests {
    private static let feeds = "/v1/feeds/com.example.doto"

    /// The address of a client library, as an unchanged app asks.
    private static func target(_ reader: FeedReader, bundle: String = FeedFixture.bundle) -> String {
        let path = reader.document.map { "/v1/feeds/\(bundle)/\($0)" } ?? "/lookup"
        let query = reader.query(bundle).map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        return query.isEmpty ? path : "\(path)?\(query)"
    }

    private static func decision(_ reader: FeedReader, _ answer: HTTPResponse) -> ReaderDecision {
        let host = ReaderHost(version: "1.0.0", build: 10, os: "17.0", platform: reader.platforms[0])
        return reader.decision(Data(answer.body.utf8), host)
    }

    @Test(
        "Each client gets its document at its address, with a tag and the fields that it depends on",
        arguments: FeedReader.allCases
    )
    func answers(reader: FeedReader) throws {
        let listener = try FeedFixture.listener()
        let target = Self.target(reader)
        let platform = (target.contains("?") ? "&" : "?") + "platform=\(reader.platforms[0])"
        let answer = try listener.fetch(target + platform)
        #expect(answer.status == 200)
        #expect(Self.decision(reader, answer) != .nothing)
        #expect(answer.headers["cache-control"] == "no-cache")
        #expect(answer.headers["policy-revision"] == "7")
        #expect(answer.headers["vary"]?.hasPrefix("Accept-Language") == true)
        let tag = try #require(answer.headers["etag"])

        let head = try listener.fetch(target + platform, method: "HEAD")
        #expect(head.status == 200 && head.body.isEmpty)
        #expect(head.headers == answer.headers)

        let known = try listener.fetch(target + platform, [("If-None-Match", "W/\(tag)")])
        #expect(known.status == 304 && known.body.isEmpty)
        #expect(known.headers["etag"] == tag)
        #expect(known.headers["vary"] == answer.headers["vary"])
        #expect(known.headers["content-length"] == nil)

        let refused = try listener.fetch(target, method: "DELETE")
        #expect(refused.status == 405 && refused.headers["allow"] == "GET, HEAD")
    }

    @Test(
        "Without a policy, for an unknown app and a paused one no client does anything",
        arguments: FeedReader.allCases
    )
    func saysNothing(reader: FeedReader) throws {
        var paused = FeedFixture.rows()
        paused.apps[0].paused = true
        for (bundle, policy) in [
            (FeedFixture.bundle, nil), ("com.example.unknown", try CompiledPolicy(FeedFixture.rows())),
            (FeedFixture.bundle, try CompiledPolicy(paused)),
        ] as [(String, CompiledPolicy?)] {
            let answer = try EmbeddedListener(CurrentPolicy(policy)).fetch(Self.target(reader, bundle: bundle))
            #expect(answer.status == 200)
            #expect(Self.decision(reader, answer) == .nothing, "\(bundle)")
            #expect(answer.headers["policy-revision"] == (policy == nil ? nil : "7"))
        }
    }

    @Test(
        "What is wrong with a query gives no client anything but what it takes as no news",
        arguments: FeedReader.allCases
    )
    func survivesWrongQueries(reader: FeedReader) throws {
        let listener = try FeedFixture.listener()
        let target = Self.target(reader)
        let begin = target + (target.contains("?") ? "&" : "?") + "platform=\(reader.platforms[0])"
        let many = (0..<140).map { "&a\($0)=1" }.joined()
        for wrong in ["&x=100%", "&x=%ff", "&x=%00", "&a=1&a=2", "&a=1&%61=2", many] {
            let answer = try listener.fetch(begin + wrong)
            #expect(answer.status == 200, "\(wrong)")
            #expect(answer.headers["content-type"]?.contains("problem") == false)
            #expect(Self.decision(reader, answer) == .nothing, "\(wrong)")
        }
        let long = try listener.fetch(begin + "&x=" + String(repeating: "x", count: 9_000))
        #expect(long.status == 200)
        #expect(Self.decision(reader, long) == .nothing)
        #expect(try listener.fetch(begin + "&x=" + String(repeating: "x", count: 20_000)).status == 414)
    }

    @Test("A look-up finds an app by number and bundle, for the country of its path or query")
    func looksUp() throws {
        var rows = FeedFixture.rows()
        rows.rules.append(TestPolicy.rule("japan") { ($0.regions, $0.final, $0.position) = (["JP"], true, -1) })
        let listener = try EmbeddedListener(CurrentPolicy(CompiledPolicy(rows)))
        // The final message of Japan keeps the others from being sent there.
        for (target, count) in [
            ("/lookup?id=123456789&country=us", 1), ("/us/lookup?bundleId=com.example.doto", 1),
            ("/US/lookup?id=123456789", 1), ("/jp/lookup?id=123456789", 0), ("/lookup?id=123456789&country=JP", 0),
            ("/lookup?id=1", 0), ("/lookup", 0), ("/lookup?id=x", 0),
            // As react-native-version-check asks.
            ("//lookup?id=123456789&country=us", 1), ("/us//lookup?id=123456789", 1), ("/jp//lookup?id=123456789", 0),
        ] {
            #expect(try listener.fetch(target).body.hasPrefix("{\"resultCount\":\(count),"), "\(target)")
        }
    }

    @Test("The bundle of a path is decoded, and what cannot be is the bundle of no app")
    func decodesBundles() throws {
        let listener = try FeedFixture.listener()
        func said(_ bundle: String) throws -> Bool {
            let answer = try listener.fetch("/v1/feeds/\(bundle)/iversion.plist")
            #expect(answer.status == 200)
            return answer.body.contains("1.2.0")
        }
        #expect(try said("com.ex%C3%A4mple%2F%C3%9F"))
        #expect(try said("com%2eexample%2Edoto"))
        #expect(try said("COM.example.doto"))
        for wrong in ["com.example.doto%", "%ff", "%00", "", "com.example.dotp"] {
            #expect(try !said(wrong), "\(wrong)")
        }
        #expect(try listener.fetch("/v1/feeds/%ff/v.json").status == 404)
    }

    @Test("A template whose document is larger than a mebibyte is 404")
    func boundsTemplates() throws {
        let few = try FeedFixture.listener(everybody: 3)
        #expect(try few.fetch("\(Self.feeds)/large?platform=ios&version=2").body.utf8.count == 195_000)
        let many = try FeedFixture.listener(everybody: 20)
        #expect(try many.fetch("\(Self.feeds)/large?platform=ios&version=2").status == 404)
        #expect(try EmbeddedListener(CurrentPolicy()).fetch("\(Self.feeds)/large").status == 404)
    }

    @Test("Routes tell feeds, look-ups and gates apart, also where they are refused, and nothing else is one")
    func countsRoutes() throws {
        for (target, route) in [
            ("/v1/check?bundle=a", RequestKind.Route.check), ("/tables/vLoadMessages", .legacyCheck),
            ("\(Self.feeds)/iversion.plist?a=b", .feed), ("\(Self.feeds)/x", .feed), ("http://x/us/lookup", .lookup),
            ("/v1/gate?a", .gate), ("/v1/releases", .releases), ("//lookup?id=1", .lookup), ("/us//lookup", .lookup),
        ] {
            #expect(RequestTarget(target).route == route, "\(target)")
        }
        for target in [
            "/", "*", "/v1/feeds", "/v1/feeds/", Self.feeds, "\(Self.feeds)/", "\(Self.feeds)/v.json/",
            "/v1/gate/", "/lookup/", "/v2/lookup", "/usa/lookup", "/u1/lookup", "///lookup", "/us///lookup",
            "//us/us/lookup",
        ] {
            #expect(RequestTarget(target).route == .other, "\(target)")
        }
        #expect(RequestTarget("/v1/releases", takesReleases: false).route == .other)
        let listener = try FeedFixture.listener()
        #expect(try listener.fetch("\(Self.feeds)/lookup").status == 404, "a format that has another path")
        _ = try listener.fetch("\(Self.feeds)/iversion.plist")
        _ = try listener.fetch("/v1/gate", method: "PUT")
        let kinds = listener.statistics.requests.keys
        #expect(kinds.contains(RequestKind(route: .feed, method: .get, status: 200)))
        #expect(kinds.contains(RequestKind(route: .gate, method: .other, status: 405)))
    }

    @Test("Whatever a request says in query and fields, its client survives the answer", arguments: FeedReader.allCases)
    func fuzz(reader: FeedReader) throws {
        var random = SeededGenerator()
        let seed = random.seed
        let listener = try FeedFixture.listener()
        let names = [
            "version", "build", "os", "region", "language", "install", "d", "platform", "id", "bundleId", "country",
            "bundle", "for", "osVersion", "channel", "a", "", "%C3%A9", "%", "%00",
        ]
        let values = [
            "", "1.0.0", "1.2.0-beta", "1.0%2B45", "99999999999999999999", "-1", "ios", "android", "macos", "%00",
            "%ff", "%f", "%3C%26%22%27%3E", "JP", "en", "flutter", "com.example.doto", "com.example.unknown",
            "123456789", "17", "=", "+", String(repeating: "x", count: 1_200), "%E2%80%AE",
        ]
        let fields = [
            "de, en;q=0.5", ",;q=", "*", "q=1;;,", "A/1 Sparkle/2", "Sparkle/2", "Doto/1 Darwin/23.1", "Darwin/",
            "Darwin/9999999999999999999999", "/ Sparkle/", "okhttp/", "\u{E9}\u{1F600}", "",
        ]
        let connection = try listener.connect()
        defer { _ = try? connection.channel.finish(acceptAlreadyClosed: true) }
        let path = Self.target(reader)
        let readers = FeedReader.allCases.count { Self.target($0) == path }
        for _ in 0..<max(1, Trials.count(10_000) / readers) {
            let query = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                random.chance(90)
                    ? "\(random.pick(names))=\(random.pick(values))" : random.pick(names + ["&", "=&=", "?"])
            }
            let all = [path + (path.contains("?") ? "" : "?a=b")] + query
            var headers: [(name: String, value: String)] = []
            for name in ["Accept-Language", "User-Agent", "If-None-Match"] where random.chance(60) {
                headers.append((name, random.pick(fields)))
            }
            let method = random.chance(10) ? "HEAD" : "GET"
            let answer = try listener.fetch(all.joined(separator: "&"), method: method, headers, on: connection)
            #expect([200, 304].contains(answer.status), "\(all), seed \(seed)")
            guard answer.status == 200, method == "GET" else { continue }
            if case .crash(let why) = Self.decision(reader, answer) {
                Issue.record("\(why): \(all), \(headers), seed \(seed)")
            }
        }
    }
}

@Suite("Feed cache")
struct FeedCacheTests {
    private static func request(
        _ target: String,
        _ acceptLanguage: String? = nil,
        _ userAgent: String? = nil
    ) -> FeedRequest {
        let fields = ["accept-language": acceptLanguage, "user-agent": userAgent]
        return FeedRequest(.lookup(country: nil), RequestTarget(target)) { name in
            (fields["\(name)"] ?? nil).map { [$0] } ?? []
        }
    }

    private static func document(
        _ text: String,
        _ vary: [String] = ["Accept-Language", "User-Agent"]
    ) -> RenderedFeed {
        RenderedFeed(contentType: "text/plain", bytes: Array(text.utf8), vary: vary)
    }

    @Test("A document is found again by its target and the fields that it depends on, and by no others")
    func finds() {
        var cache = FeedCache()
        let requests = [
            Self.request("/a"), Self.request("/b"), Self.request("/a", "de"), Self.request("/a", nil, "de"),
            Self.request("/a", "d", "e"), Self.request("/a", "e", "d"),
        ]
        for (number, request) in requests.enumerated() {
            #expect(cache.find(request, 1, nil) == nil)
            cache.insert(Self.document("\(number)"), for: request, 1, nil)
        }
        for (number, request) in requests.enumerated() {
            #expect(cache.find(request, 1, nil)?.bytes == Array("\(number)".utf8))
        }
        cache.insert(Self.document("every agent", ["Accept-Language"]), for: Self.request("/c", "de", "x"), 1, nil)
        #expect(cache.find(Self.request("/c", "de", "y"), 1, nil) != nil)
        #expect(cache.find(Self.request("/c", "en", "x"), 1, nil) == nil)
    }

    @Test("Documents of another second are forgotten, and all of them before they take more memory than they may")
    func forgets() {
        var cache = FeedCache()
        #expect(cache.find(Self.request("/a"), 1, nil) == nil)
        cache.insert(Self.document("x"), for: Self.request("/a"), 1, nil)
        #expect(cache.find(Self.request("/a"), 1, nil) != nil)
        #expect(cache.find(Self.request("/a"), 2, nil) == nil && cache.size == 0)

        let large = Self.document(String(repeating: "x", count: FeedCache.maximumSize / 4))
        for number in 0..<40 {
            cache.insert(large, for: Self.request("/\(number % 2 == 0 ? "a" : "b\(number)")", "\(number)"), 2, nil)
            #expect(cache.size <= FeedCache.maximumSize)
        }
        #expect((0..<40).count { cache.find(Self.request("/a", "\($0)"), 2, nil) != nil } <= 3)
        #expect(cache.find(Self.request("/b39", "39"), 2, nil) != nil)
        for number in 0..<20_000 {
            cache.insert(Self.document(""), for: Self.request("/\(number)"), 2, nil)
            #expect(cache.size <= FeedCache.maximumSize)
        }
        #expect((0..<20_000).count { cache.find(Self.request("/\($0)"), 2, nil) != nil } < 10_000)
    }

    @Test("Nothing of a question is kept")
    func keepsNoQuestion() {
        var cache = FeedCache()
        let words = ["3f2a-install", "de-installed", "Agent/installed"]
        cache.insert(Self.document("x"), for: Self.request("/a?d=\(words[0])", words[1], words[2]), .min, nil)
        var kept = ""
        dump(cache, to: &kept)
        #expect(kept.contains("text/plain"))
        for word in words { #expect(!kept.contains(word)) }
    }
}

@Suite("Gate")
struct GateTests {
    private func listener(_ change: (inout Policy) -> Void) throws -> EmbeddedListener {
        var rows = FeedFixture.rows()
        change(&rows)
        return try EmbeddedListener(CurrentPolicy(CompiledPolicy(rows)))
    }

    @Test("A gate looks at one lockout where it suffices, and no event loop at as many releases for as many lockouts")
    func takesFewSteps() throws {
        // Each release is for another system, and the least for all.
        let others = (1..<200).map { number in
            TestPolicy.release("100.\(number)") { ($0.id, $0.minOS) = (Int64(number + 1), "10.\(number)") }
        }
        let releases = [TestPolicy.release("99")] + others
        func judgement(_ count: Int, versions: String = "<90", lockouts: Int = .max) throws -> CertainLockout {
            let rules = (0..<count).map { number in
                TestPolicy.rule("\(1_000 + number)") { ($0.versions, $0.lockout) = (versions, number < lockouts) }
            }
            let client = try TestPolicy.client(["version": "1.0", "build": "5", "platform": "ios"])
            let policy = try TestPolicy.policy(rules, releases: releases)
            #expect(policy.messages(for: client, at: TestPolicy.noon).contains { $0.lockout })
            let judgement = policy.lockout(of: client, at: TestPolicy.noon, within: Responder.mostSteps)
            let whole = policy.lockout(of: client, at: TestPolicy.noon)
            #expect(judgement == whole || judgement == .unfinished)
            return judgement
        }
        #expect(try judgement(1) == .rule("1000"))
        #expect(try judgement(4) == .rule("1000"))
        #expect(try judgement(100) == .unfinished)
        #expect(try judgement(100, lockouts: 1) == .rule("1000"))
        // Each would lock out who got the least release that some system has.
        #expect(try judgement(4, versions: "<90 || 100.1") == .open)
        #expect(try judgement(5, versions: "<90 || 100.1") == .unfinished)
    }

    @Test("A gate reads what the query does not say from fields, and the query wins")
    func readsFields() throws {
        let listener = try listener { rows in
            rows.rules = [
                TestPolicy.rule("all") { rule in
                    (rule.versions, rule.builds, rule.os) = ("<1.1.0", "10", ">=17")
                    (rule.regions, rule.platforms, rule.rollout) = (["JP"], ["ios"], .all)
                    (rule.lockout, rule.lockoutWithoutUpdate) = (true, true)
                }
            ]
        }
        let fields = [
            (name: "App-Bundle", value: "com.example.doto"), (name: "App-Version", value: "1.0.0"),
            (name: "App-Build", value: "10"), (name: "App-Platform", value: "ios"), (name: "app-os", value: "17.1"),
            (name: "App-Region", value: "ja_JP"), (name: "App-Install", value: "i"),
        ]
        #expect(try listener.fetch("/v1/gate", fields).status == 403)
        #expect(try listener.fetch("/v1/gate?deny=426&version=", fields).status == 426)
        #expect(try listener.fetch("/v1/gate?version=1.1.0", fields).status == 204)
        #expect(try listener.fetch("/v1/gate?region=US", fields).status == 204)
        for missing in fields.indices where fields[missing].name != "App-Install" {
            var some = fields
            some.remove(at: missing)
            #expect(try listener.fetch("/v1/gate", some).status == 204, "\(fields[missing].name)")
        }
        #expect(try listener.fetch("/v1/gate", fields + [("App-Version", "1.0.0")]).status == 204, "twice")
    }

    @Test("A gate is open without a policy, for an unknown or paused app, and where a question is not whole")
    func failsOpen() throws {
        let closed: (inout Policy) -> Void = { rows in
            rows.rules = [
                TestPolicy.rule("maintenance") { rule in
                    (rule.bundle, rule.lockout, rule.lockoutWithoutUpdate) = (nil, true, true)
                }
            ]
        }
        let listener = try listener(closed)
        let question = "/v1/gate?bundle=com.example.doto&version=1.2.0"
        #expect(try listener.fetch(question).status == 403)
        for open in [
            "/v1/gate", "/v1/gate?version=1.2.0", "/v1/gate?bundle=com.example.doto",
            "/v1/gate?bundle=com.example.unknown&version=1.2.0", "/v1/gate?bundle=com.example.doto&version=one",
            question + "&os=x", question + "&build=x", question + "&x=%", question + "&x=%ff", question + "&version=1",
            question + "&a=1&a=2", "/v1/gate?bundle=\(String(repeating: "x", count: 256))&version=1",
            question + (0..<65).map { "&a\($0)=1" }.joined(),
            question + "&x=" + String(repeating: "x", count: 9_000),
        ] {
            let answer = try listener.fetch(open)
            #expect(answer.status == 204 && answer.headers["content-length"] == nil, "\(open.prefix(100))")
        }
        #expect(try EmbeddedListener(CurrentPolicy()).fetch(question).status == 204)
        let paused = try self.listener { rows in
            closed(&rows)
            rows.apps[0].paused = true
        }
        #expect(try paused.fetch(question).status == 204)
    }
}
