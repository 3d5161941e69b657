import Foundation
import TestFeeds
import TestPolicies
import TestRandom
import Testing
import UpdateFeeds
import UpdatePolicy

extension FeedReader {
    /// The question of the library, with the members that its app adds to the address.
    func question(
        _ bundle: String,
        _ members: [(name: String, value: String)],
        acceptLanguage: String? = nil,
        userAgent: String? = nil
    ) -> FeedQuestion {
        FeedQuestion(
            format: document.flatMap { FeedFormat(rawValue: $0) } ?? .lookup, bundle: document == nil ? nil : bundle,
            query: members + query(bundle), acceptLanguage: acceptLanguage, userAgent: userAgent
        )
    }

    /// What the library makes of the document of a policy, in an app that adds its platform alone to the address.
    func decision(by policy: CompiledPolicy, _ version: String, _ build: Int, os: String = "17.0") -> ReaderDecision {
        let host = ReaderHost(version: version, build: build, os: os, platform: platforms[0])
        let question = question(FeedExample.bundle, [("platform", host.platform)])
        return decision(Data(FeedDocument(answering: question, by: policy, at: TestPolicy.noon).bytes), host)
    }
}

/// How many (policy, format, client) cases are tried: `VERSIONGATE_FEEDS`.
private let cases = ProcessInfo.processInfo.environment["VERSIONGATE_FEEDS"].flatMap { Int($0) } ?? 2_000

@Suite("Feeds lose and never add", .computing, .serialized)
struct FeedPropertyTests {
    /// The versions of apps.
    private static let versions = ["1.0.0", "1.0.1", "1.1.0", "1.1.1", "1.2.0", "1.2.1", "1.3.0", "1.4.0"]

    /// Those that rules and releases have: also such as few clients can tell from others.
    private static let policyVersions = [
        "1.0.0", "1.0.1", "1.0.1500", "1.1.0", "1.1.0.5", "1.1.1", "1.2.0", "1.2.0-rc1", "1.2.01", "1.2.1", "1.3.0",
        "1.4.0",
    ]

    private static let style: PolicyStyle = {
        var style = PolicyStyle.crowded
        style.pools.bundles = ["com.example.doto"]
        style.pools.versions = versions + versions + policyVersions
        style.pools.ranges = [
            "<1.2.0", "<1.1.0", "<1.3.0", ">=1.1.0 <1.3.0", "<1.1.0 || >=1.1.0 <1.2.0", "~1.1", "*", "<=1.2.x", "1.2.0",
            "<=1.1.0", "<1.1.0 || 1.2.0", "<1.4.0",
        ]
        style.pools.buildRanges = ["<20", ">=20", "10 - 30"]
        style.pools.storeLinks = ["https://apps.apple.com/app/doto/id123456789?x=1&y=2"]
        style.pools.texts = ["Please update", "a & b < c ]]> \"q\" 'r'\nend", "\u{1F600} \u{202E}\u{200F}"]
        style.pools.hours = [-3, -2, -1, 0]
        style.chances.set([
            \.ios: 45, \.build: 0, \.storeLink: 90, \.staged: 5, \.withdrawnAt: 5, \.minOS: 20, \.releaseRegions: 10,
            \.target: 45, \.versions: 45, \.bundle: 85, \.builds: 5, \.os: 8, \.platforms: 8, \.regions: 8,
            \.languages: 5, \.attributes: 5, \.fullRollout: 85, \.startsAt: 3, \.endsAt: 3, \.lockout: 55, \.final: 10,
            \.steps: 3, \.enabled: 95, \.hints: 70,
        ])
        return style
    }()

    /// Numbers that systems of the platform tell of themselves: there is no macOS 16 to 25.
    private static func systems(of platform: String) -> [String] {
        ["13.5", "14.0", "14.8", "15.0"] + (platform == "macos" ? ["15.6", "26.1"] : ["16.1", "17.0"])
    }

    /// A build of a version. Those of greater numbers are greater, as comparisons of builds expect; but a version has
    /// many, of which a policy has one.
    private static func build(of version: String, _ random: inout SeededGenerator) -> Int {
        guard let version = AppVersion(version) else { return 1 }
        let place = sortedVersions.firstIndex { !($0 < version) } ?? sortedVersions.count
        return 10 * (place + 1) + Int.random(in: 0...9, using: &random)
    }

    private static let sortedVersions = policyVersions.compactMap { AppVersion($0) }.sorted()

    /// A policy whose releases are mostly for one platform.
    private static func policy(_ generator: inout PolicyGenerator, _ platform: String) -> Policy {
        var policy = generator.policy(rules: generator.random.pick([1, 2, 3, 5]))
        let version = generator.random.pick(versions.suffix(3))
        let minOS = generator.random.pick(["14", "15", "16.1"], chance: 40)
        policy.releases.append(TestPolicy.release(version) { ($0.id, $0.minOS) = (100, minOS) })
        for index in policy.apps.indices where generator.random.chance(20) {
            policy.apps[index].name = generator.random.pick([
                "F [:mav: 9.9.9]", "[:MAV:9.9.9]", "[\u{301}[:mav: 9.9.9 ]",
            ])
        }
        for index in policy.releases.indices {
            if generator.random.chance(90) { policy.releases[index].platform = platform }
            if generator.random.chance(92) {
                policy.releases[index].build = String(build(of: policy.releases[index].version, &generator.random))
            }
        }
        return policy
    }

    @Test("No reader prompts or locks out where the policy does not, and none crashes")
    func random() throws {
        var generator = PolicyGenerator(Self.style, SeededGenerator())
        let seed = generator.random.seed
        print("feeds: seed \(seed), \(cases) cases")
        var prompts: [FeedReader: Int] = [:]
        var lockouts: [FeedReader: Int] = [:]
        var limited = 0
        for number in 0..<cases {
            let reader = FeedReader.allCases[number % FeedReader.allCases.count]
            let platform = generator.random.pick(reader.platforms)
            let compiled = try CompiledPolicy(Self.policy(&generator, platform))
            let name = "case \(number), seed \(seed)"
            let decision = try decide(reader, platform, compiled, generator.time(), &generator.random, &limited, name)
            if case .prompt = decision { prompts[reader, default: 0] += 1 }
            if case .lockout = decision { lockouts[reader, default: 0] += 1 }
        }
        print(
            "feeds: prompts \(prompts.values.reduce(0, +)), \(limited) of them limited, "
                + "lockouts \(lockouts.values.reduce(0, +))"
        )
        if cases >= 20_000 {
            for reader in FeedReader.allCases {
                #expect(prompts[reader, default: 0] + lockouts[reader, default: 0] > 0, "\(reader) never decides")
            }
        }
        #expect(prompts.values.reduce(0, +) > cases / 20)
        #expect(lockouts.values.reduce(0, +) > cases / 50)
        #expect(limited > 0)
    }

    private func decide(
        _ reader: FeedReader,
        _ platform: String,
        _ policy: CompiledPolicy,
        _ time: Timestamp,
        _ random: inout SeededGenerator,
        _ limited: inout Int,
        _ name: String
    ) throws -> ReaderDecision {
        let isPrerelease = reader.isSemantic && random.chance(50)
        let version = random.pick(Self.versions) + (isPrerelease ? "-beta" : "")
        let host = ReaderHost(
            version: version, build: Self.build(of: version, &random), os: random.pick(Self.systems(of: platform)),
            platform: platform
        )
        var whole: [(name: String, value: String)] = [
            ("version", host.version), ("build", String(host.build)), ("os", host.os),
        ]
        let others: [(name: String, value: String)] = [
            ("region", random.pick(["JP", "US", "DE"])),
            ("install", "install-\(Int.random(in: 0..<40, using: &random))"),
            ("channel", random.pick(["a", "b", "x"])), ("device", random.pick(["a", "1", "x"])),
        ]
        whole += others.filter { _ in random.chance(75) }
        let language = random.chance(60) ? random.pick(["de-AT", "zh-Hant-TW", "en"]) : nil
        let asked = whole.filter { _ in random.chance(30) }
        let isApple = platform == "ios" && random.chance(50)
        let darwin = (Int(host.os.prefix(2)) ?? 0) + 6
        let sparkle = "Doto App/\(host.version) Sparkle/2.6.0"
        let question = reader.question(
            TestPolicy.bundle,
            asked + (reader.platforms.count > 1 ? [("platform", platform)] : []),
            acceptLanguage: language.map { "fr;q=0.1, \($0)" },
            userAgent: reader == .sparkle && random.chance(50)
                ? sparkle : isApple ? "Doto/7 CFNetwork/1.0 Darwin/\(darwin).1.0" : nil
        )
        let document = FeedDocument(answering: question, by: policy, at: time)
        let decision = reader.decision(Data(document.bytes), host)

        let languages = language.map { [(name: "language", value: $0)] } ?? []
        let client = try TestPolicy.client(of: [("platform", platform)] + whole + languages)
        let messages = policy.messages(for: client, at: time)
        let isAllowed: Bool
        switch decision {
        case .nothing: isAllowed = true
        case .prompt(let version): isAllowed = !messages.isEmpty && isOffered(version, to: client, policy, time)
        case .lockout(let version):
            isAllowed = messages.contains { $0.lockout } && isOffered(version, to: client, policy, time)
        case .crash: isAllowed = false
        }
        #expect(
            isAllowed,
            """
            \(reader) decides \(decision) for \(host), sent \(messages.map { $0.id + ($0.lockout ? "!" : "") }), \
            asked \(asked), \(String(decoding: document.bytes, as: UTF8.self)), \(policy.policy), at \(time), \(name)
            """
        )
        if case .prompt = decision, reader.countsShows {
            // The client may be shown what it is asked as often as the message that may be shown most often.
            let shows = messages.map { $0.lockout ? nil : $0.hints?.shows }
            let allowed = shows.contains(nil) ? nil : shows.compactMap(\.self).max()
            let most = reader.mostShows(Data(document.bytes), host)
            #expect(
                allowed.map { allowed in most.map { $0 <= allowed } ?? false } ?? true,
                """
                \(reader) shows it \(most.map(String.init) ?? "always") to \(host), sent \(messages), asked \(asked), \
                \(String(decoding: document.bytes, as: UTF8.self)), \(policy.policy), at \(time), \(name)
                """
            )
            if allowed != nil { limited += 1 }
        }
        return decision
    }

    /// Whether a client can get a version: none named is the version of its message.
    private func isOffered(_ version: String?, to client: Client, _ policy: CompiledPolicy, _ time: Timestamp) -> Bool {
        guard let version = version.flatMap({ AppVersion($0) }) else { return version == nil }
        return policy.policy.releases.contains { release in
            guard Platform(release.platform) == client.platform, !release.staged, let liveAt = release.liveAt,
                liveAt <= time,
                release.withdrawnAt.map({ time < $0 }) ?? true, let own = AppVersion(release.version), own >= version
            else { return false }
            if let regions = release.regions, let region = client.region, !regions.contains(region.code) {
                return false
            }
            guard let minOS = release.minOS.flatMap({ AppVersion($0) }), let os = client.os else { return true }
            return os >= minOS
        }
    }

    @Test("What a template may show holds for every client of the question, also of one that tells no platform")
    func templates() throws {
        var generator = PolicyGenerator(Self.style, SeededGenerator())
        let seed = generator.random.seed
        print("feeds: templates seed \(seed)")
        var counts = (prompts: 0, floors: 0, messages: 0)
        for number in 0..<cases {
            let policy = try CompiledPolicy(
                Self.policy(&generator, generator.random.pick(["ios", "android", "macos"])))
            let time = generator.time()
            let (platform, agent) = generator.random.pick([
                ("ios", "Doto/7 CFNetwork/1.0 Darwin/23.1.0"), ("macos", "Doto/7 CFNetwork/1.0 Darwin/23.1.0"),
                ("android", "okhttp/4.9.2"), ("android", "Doto/1 (Android 14)"), ("windows", "Doto/1"),
            ])
            let rows = policy.policy
            let platforms = rows.releases.map(\.platform) + rows.apps.flatMap { $0.storeLinks.map(\.platform) }
            // Nobody has an app of a system that it is not on.
            if platform == "macos", !platforms.contains("macos") { continue }
            let version = generator.random.pick(Self.versions)
            let os = platform == "macos" ? "14.1" : "17.1"
            var query: [(name: String, value: String)] = []
            if generator.random.chance(60) { query.append(("platform", platform)) }
            if generator.random.chance(30) { query.append(("version", version)) }
            let question = FeedQuestion(format: nil, bundle: TestPolicy.bundle, query: query, userAgent: agent)
            let source = FeedSource(question, policy, time)
            guard let app = source.app, let messages = source.messages(on: app.platform(of: question) ?? "") else {
                continue
            }
            let said = source.announcement(on: app.platform(of: question) ?? "", naming: .any)
            let client = try TestPolicy.client([
                "platform": platform, "version": version, "os": os, "region": generator.random.pick(["JP", "US"]),
                "install": "install-1", "channel": generator.random.pick(["a", "b"]),
            ])
            let sent = policy.messages(for: client, at: time)
            let own = try #require(client.version)
            let isPrompted = said?.prompt.map { own < $0.version } ?? false
            let isLockedOut = said?.floor.map { own < $0.version } ?? false
            if isPrompted { counts.prompts += 1 }
            if isLockedOut { counts.floors += 1 }
            counts.messages += messages.count
            #expect(
                (!isPrompted || !sent.isEmpty) && (!isLockedOut || sent.contains { $0.lockout })
                    && messages.allSatisfy { message in
                        sent.contains { $0.id == message.id && ($0.lockout || !message.lockout) }
                    },
                """
                \(messages), \(String(describing: said)) for \(platform) \(version), sent \(sent), asked \(query) by \(agent), \(policy.policy), \
                at \(time), case \(number), seed \(seed)
                """
            )
        }
        print("feeds: templates \(counts)")
        #expect(counts.prompts > cases / 100 && counts.floors > cases / 200 && counts.messages > cases / 50)
    }

    @Test("Where a document leaves nothing of a rule out, its client decides as the policy does")
    func losses() throws {
        var generator = PolicyGenerator(Self.style, SeededGenerator())
        let seed = generator.random.seed
        print("feeds: losses seed \(seed)")
        let readers: [FeedReader] = [
            .iVersion, .updates, .princeOfVersionsIOS, .princeOfVersionsAndroid, .siren, .qiita, .upgrader, .sparkle,
        ]
        var claims = (announced: 0, demanded: 0)
        // Some more where chance has left out what matters.
        for number in 0..<cases where number < cases / 4 || claims.demanded == 0 {
            let reader = readers[number % readers.count]
            let platform = generator.random.pick(reader.platforms)
            let policy = try CompiledPolicy(Self.policy(&generator, platform))
            let time = generator.time()
            let version = generator.random.pick(Self.versions)
            let recorded = policy.policy.releases.first {
                Platform($0.platform) == Platform(platform) && $0.version == version && $0.build != nil
            }
            // What is said of builds is said of those that are recorded.
            if recorded == nil, reader.comparesBuilds { continue }
            let host = ReaderHost(
                version: version, build: recorded?.build.flatMap { Int($0) } ?? 1,
                os: generator.random.pick(Self.systems(of: platform)), platform: platform
            )
            let question = reader.question(TestPolicy.bundle, [("platform", platform)])
            let document = FeedDocument(answering: question, by: policy, at: time)
            let decision = reader.decision(Data(document.bytes), host)
            let client = try TestPolicy.client([
                "platform": platform, "version": version, "build": String(host.build), "os": host.os,
                "region": generator.random.pick(["JP", "US", "DE"]), "install": "install-1",
                "channel": generator.random.pick(["a", "b"]),
            ])
            let lost = Set(FeedLoss.all(answering: question, by: policy, at: time).map(\.key))
            for message in policy.messages(for: client, at: time) where !lost.contains(message.id) {
                claims.announced += 1
                var isLockout = false
                if case .lockout = decision { isLockout = true }
                if message.lockout { claims.demanded += 1 }
                #expect(
                    decision != .nothing && (!message.lockout || isLockout),
                    """
                    \(reader) decides \(decision) for \(host) and \(message.id), \
                    \(String(decoding: document.bytes, as: UTF8.self)), \(policy.policy), at \(time), seed \(seed)
                    """
                )
            }
        }
        print("feeds: claims \(claims)")
        #expect(claims.demanded > 0)
    }
}
