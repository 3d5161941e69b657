import Foundation
import TestFeeds
import TestPolicies
import TestSystem
import Testing
import UpdateFeeds
import UpdatePolicy

/// A policy that announces 1.2.0 and demands 1.1.0 on every platform.
enum FeedExample {
    static let bundle = "com.example.doto"
    static let hostile = "a & b < c > d ]]> \"q\" 'r'\n\u{1F600} \u{202E}\u{5D0}\u{200F} \u{2028}\u{7F}"

    static func policy(text: String = "Please update.") throws -> CompiledPolicy {
        let platforms = ["ios", "android", "macos"]
        let links = [
            "https://apps.apple.com/app/doto/id123456789?mt=8&l=en", "https://play.google.com/store/apps/details?id=d",
            "https://example.com/doto.dmg",
        ]
        let app = App(bundle: bundle, name: "Doto & Co") {
            $0.storeLinks = zip(platforms, links).map { StoreLink(platform: $0, link: $1) }
        }
        var releases: [Release] = []
        for platform in platforms {
            for (version, build) in [("1.0.0", "10"), ("1.1.0", "20"), ("1.2.0", "30"), ("1.3.0", "40")] {
                releases.append(
                    TestPolicy.release(version) {
                        $0.id = Int64(releases.count + 1)
                        $0.platform = platform
                        $0.build = build
                        if version == "1.3.0" { $0.minOS = "18" }
                    }
                )
            }
        }
        let rules = [
            TestPolicy.rule("everyday") { ($0.target, $0.title, $0.text) = ("1.2.0", "New", text) },
            TestPolicy.rule("security") { ($0.versions, $0.lockout, $0.text) = ("<1.1.0", true, text) },
            TestPolicy.rule("newest") { ($0.target, $0.text) = ("1.3.0", text) },
        ]
        return try CompiledPolicy(Policy(revision: 1, token: "t", apps: [app], releases: releases, rules: rules))
    }

    static func document(
        _ format: FeedFormat,
        _ query: [(name: String, value: String)] = [],
        bundle: String? = bundle,
        userAgent: String? = nil,
        policy: CompiledPolicy?
    ) -> String {
        let question = FeedQuestion(format: format, bundle: bundle, query: query, userAgent: userAgent)
        return String(decoding: FeedDocument(answering: question, by: policy, at: TestPolicy.noon).bytes, as: UTF8.self)
    }

    /// The formats, each with a question that a client of it asks.
    static func questions(_ bundle: String) -> [(
        name: String, format: FeedFormat, query: [(name: String, value: String)]
    )] {
        [
            ("iversion.plist", .iVersion, []), ("updates.json", .updates, []),
            ("prince-of-versions.json", .princeOfVersions, []), ("appcast-flutter.xml", .appcast, [("for", "flutter")]),
            ("appcast-sparkle.xml", .appcast, [("for", "sparkle")]), ("lookup.json", .lookup, [("bundleId", bundle)]),
        ]
    }
}

@Suite("Feed documents")
struct FeedDocumentTests {
    /// Set to write the documents anew; what changed is then seen in the difference of the files.
    private static let isWriting = ProcessInfo.processInfo.environment["VERSIONGATE_WRITE_FEEDS"] != nil

    @Test("Each format has the document it had")
    func golden() throws {
        let policy = try FeedExample.policy()
        for (name, format, query) in FeedExample.questions(FeedExample.bundle) {
            for (kind, policy) in [("said", policy), ("nothing", nil)] as [(String, CompiledPolicy?)] {
                let url = RepositoryFile.url("Tests/Vectors/feeds/\(kind)/\(name)")
                let document = FeedExample.document(format, query, policy: policy)
                if Self.isWriting {
                    try FileManager.default.createDirectory(
                        at: url.deletingLastPathComponent(),
                        withIntermediateDirectories: true
                    )
                    try Data(document.utf8).write(to: url)
                }
                #expect(try String(contentsOf: url, encoding: .utf8) == document, "\(kind)/\(name)")
            }
        }
    }

    @Test("Each client announces what is announced, and demands what it can demand", arguments: FeedReader.allCases)
    func decisions(_ reader: FeedReader) throws {
        let policy = try FeedExample.policy()
        let canDemand = ![
            .iVersion, .siren, .sirenBefore7, .iVersionLookup, .updatesLookup, .qiita, .reactNative,
        ].contains(reader)
        func isPrompt(_ decision: ReaderDecision) -> Bool { if case .prompt = decision { true } else { false } }
        func isLockout(_ decision: ReaderDecision) -> Bool { if case .lockout = decision { true } else { false } }
        let first = reader.decision(by: policy, "1.0.0", 10)
        #expect(canDemand ? isLockout(first) : isPrompt(first))
        #expect(isPrompt(reader.decision(by: policy, "1.1.0", 20)))
        #expect(reader.decision(by: policy, "1.2.0", 30) == .nothing)
        // 1.3.0 needs a later system, which some clients judge for themselves.
        let judgesSystem = [.updates, .princeOfVersionsIOS, .sparkle].contains(reader)
        #expect(isPrompt(reader.decision(by: policy, "1.2.0", 30, os: "18.0")) == judgesSystem)
    }

    @Test("The list of iVersion has the notes of fifty versions before the one that is announced, the newest")
    func manyNotes() throws {
        var policy = try FeedExample.policy().policy
        for number in 0..<80 {
            policy.releases.append(
                TestPolicy.release("0.\(number).0") {
                    $0.id = Int64(100 + number)
                    $0.notes = [ReleaseNote(language: "und", text: "n\(number)")]
                }
            )
        }
        func notes() throws -> [String: [String]] {
            let document = FeedExample.document(.iVersion, policy: try CompiledPolicy(policy))
            let list = try PropertyListSerialization.propertyList(from: Data(document.utf8), format: nil)
            return try #require(list as? [String: [String]])
        }
        var noted = try notes()
        #expect(noted.count == 51)
        #expect(noted["0.79.0"] == ["n79"] && noted["0.30.0"] == ["n30"] && noted["0.29.0"] == nil)
        for index in policy.releases.indices where !policy.releases[index].notes.isEmpty {
            policy.releases[index].notes[0].text = String(repeating: "n", count: 4_096)
        }
        noted = try notes()
        #expect(noted.count == 17 && noted["0.64.0"] != nil, "the notes of 16 versions are 64 KiB")
    }

    @Test("Programs that are not ours read the documents and find the same texts")
    func otherPrograms() throws {
        let text = FeedExample.hostile + String(repeating: "x&<\u{E9}", count: 980)
        let policy = try FeedExample.policy(text: text)
        for (name, format, query) in FeedExample.questions(FeedExample.bundle) {
            let folder = FileManager.default.temporaryDirectory.appending(path: "feeds-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appending(path: name)
            try Data(FeedExample.document(format, query, policy: policy).utf8).write(to: file)
            try Data(text.utf8).write(to: folder.appending(path: "text"))
            let script =
                name.hasSuffix("plist")
                ? "import plistlib; d = plistlib.load(open(sys.argv[1], 'rb')); ok = d['1.2.0'] == [t]"
                : name.hasSuffix("json")
                    ? """
                    import json
                    def texts(v):
                        if isinstance(v, dict): return [t for x in v.values() for t in texts(x)]
                        if isinstance(v, list): return [t for x in v for t in texts(x)]
                        return [v]
                    ok = t in texts(json.load(open(sys.argv[1], encoding='utf-8')))
                    """
                    : """
                    import xml.etree.ElementTree as e
                    ok = t in [x.text for x in e.parse(sys.argv[1]).iter()]
                    """
            let head = "import sys; t = open(sys.argv[2], encoding='utf-8', newline='').read()\n"
            #expect(
                try Self.run(
                    "python3",
                    ["-c", head + script + "\nsys.exit(0 if ok else 1)", file.path, folder.path + "/text"]
                ) == 0,
                "\(name)"
            )
            if name.hasSuffix("xml") || name.hasSuffix("plist") {
                #expect(try Self.run("xmllint", ["--noout", "--nonet", file.path]) == 0, "\(name)")
            }
        }
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}

@Suite("Traps of update clients")
struct FeedTrapTests {
    /// The document of a format by the policy of the example, changed.
    private func said(
        _ format: FeedFormat,
        _ query: [(name: String, value: String)] = [],
        agent: String? = nil,
        where change: (inout Policy) -> Void = { _ in }
    ) throws -> String {
        var policy = try FeedExample.policy().policy
        change(&policy)
        let bundle = format == .lookup ? nil : FeedExample.bundle
        return FeedExample.document(format, query, bundle: bundle, userAgent: agent, policy: try CompiledPolicy(policy))
    }

    @Test("A message is shown as often as its rule says, as far as there is a word for it, and never more often")
    func shows() throws {
        for (shows, word) in [(nil, "always"), (1, "once"), (2, "twice"), (3, "thrice"), (1_000, "thrice")]
            as [(Int64?, String)]
        {
            let updates = try said(.updates) { $0.rules[0].shows = shows }
            // 1.3.0, for some systems, would make 1.2.0 a least version, which is shown at every start.
            let isNewest =
                updates.contains(#""version":"1.3.0""#) && updates.contains(#""min-optional-app-version":"1.2.0""#)
            let isOffer = updates.contains(#""version":"1.2.0""#) && !updates.contains("min-optional-app-version")
            #expect(shows == nil ? isNewest : isOffer, "\(updates)")
            #expect(updates.contains(#""notify":"\#(word)""#), "\(updates)")
            let document = try said(.princeOfVersions) { policy in
                policy.rules.removeAll { $0.key == "newest" }
                policy.rules[0].shows = shows
            }
            for name in ["notify_last_version_frequency", "notification_type"] {
                let count = document.components(separatedBy: #""\#(name)":"ONCE""#).count - 1
                #expect(count == (shows == nil ? 0 : 2), "\(name), \(word)")
            }
        }
    }

    @Test("Updates: what is demanded does not depend on a system, for the client does not ask for it")
    func updatesFloor() throws {
        func demands(_ query: [(name: String, value: String)]) throws -> Bool {
            let document = try said(.updates, query) {
                $0.rules = [TestPolicy.rule("a") { ($0.target, $0.lockout) = ("1.3.0", true) }]
            }
            #expect(document.contains(#""version":"1.3.0""#))
            return document.contains(#""min-required-app-version":"1.3.0""#)
        }
        #expect(try !demands([]) && demands([("os", "18.1")]))
    }

    @Test("Look-up: the kind that is asked for is the platform, and what is no software is not found")
    func lookupKinds() throws {
        func found(_ query: [(name: String, value: String)]) throws -> String {
            try said(.lookup, query) { policy in
                policy.releases.append(
                    TestPolicy.release("1.29.4") {
                        ($0.id, $0.platform, $0.liveAt) = (99, "macos", TestPolicy.hours(-30))
                    }
                )
                policy.rules.append(
                    TestPolicy.rule("mac") { ($0.platforms, $0.target, $0.position) = (["macos"], "1.29.4", -1) }
                )
            }
        }
        for (kind, expected) in [
            (nil, "1.2.0"), ("software", "1.2.0"), ("iPadSoftware", "1.2.0"), ("software,iPadSoftware", "1.2.0"),
            ("macSoftware", "1.29.4"), ("macsoftware", "1.29.4"), ("musicTrack", nil), ("ebook", nil), ("x", nil),
        ] {
            for (name, value) in [("bundleId", FeedExample.bundle), ("id", "123456789")] {
                let query = [(name: name, value: value)] + (kind.map { [(name: "entity", value: $0)] } ?? [])
                let document = try found(query)
                #expect(document.contains("\"version\":\"\(expected ?? "")\"") == (expected != nil), "\(query)")
                #expect(document.contains("\"resultCount\":0") == (expected == nil), "\(query)")
            }
        }
        let asked: [(name: String, value: String)] = [
            ("id", "123456789"), ("entity", "software"), ("platform", "macos"),
        ]
        #expect(try found(asked).contains(#""version":"1.29.4""#))
    }

    @Test("Look-up: the first number of a version may be a year, and no other may be as great")
    func lookupYear() throws {
        for version in ["2026.8.1", "2026.1000.1"] {
            let document = try said(.lookup, [("id", "123456789")]) {
                $0.rules = [TestPolicy.rule("year") { $0.target = version }]
                $0.releases = [TestPolicy.release("2026.7.1"), TestPolicy.release(version) { $0.id = 2 }]
            }
            let isFound = document.contains(#""version":"2026.8.1""#)
            #expect(version == "2026.8.1" ? isFound : document == #"{"resultCount":0,"results":[]}"#)
        }
    }

    @Test("Look-up: of several apps with one number the one is found that has it recorded, in whatever order they come")
    func lookupOfSeveral() throws {
        let linked = ["z.z", "b.b", "M.m"].map { bundle in
            App(bundle: bundle) {
                $0.storeLinks = [StoreLink(platform: "ios", link: "https://apps.apple.com/app/id5")]
            }
        }
        let apps = linked + [App(bundle: "c.c") { $0.storeID = 5 }]
        for order in [apps, apps.reversed(), [apps[3], apps[1], apps[0], apps[2]]] {
            let policy = try CompiledPolicy(Policy(revision: 1, token: "t", apps: order))
            #expect(policy.section(ofStoreID: 5)?.app?.bundle == "c.c")
            let withoutNumber = order.filter { $0.storeID == nil }
            let update = PolicyUpdate(
                bundles: [], includesRulesForEveryApp: false,
                policy: Policy(revision: 2, token: "u", apps: [App(bundle: "c.c")])
            )
            #expect(try policy.updated(with: update).section(ofStoreID: 5)?.app?.bundle == "b.b")
            let started = try CompiledPolicy(Policy(revision: 2, token: "u", apps: withoutNumber))
            #expect(started.section(ofStoreID: 5)?.app?.bundle == "b.b")
        }
    }

    @Test("An app that was removed is in no document, and its checks are those of an unknown app")
    func removedApp() throws {
        var policy = try FeedExample.policy().policy
        policy.rules.append(Rule(key: "every", title: "{app}", text: "x") { $0.enabled = true })
        let update = PolicyUpdate(
            bundles: [FeedExample.bundle], includesRulesForEveryApp: false, policy: Policy(revision: 2, token: "u")
        )
        let reloaded = try CompiledPolicy(policy).updated(with: update)
        let started = try CompiledPolicy(Policy(revision: 2, token: "u", rules: [policy.rules[policy.rules.count - 1]]))
        for question in FeedExample.questions(FeedExample.bundle) {
            let documents = [reloaded, started].map {
                FeedExample.document(question.format, question.query, policy: $0)
            }
            #expect(documents[0] == documents[1], "\(question.name)")
        }
        let client = try TestPolicy.client(["bundle": "COM.example.DOTO"])
        #expect(reloaded.messages(for: client, at: TestPolicy.noon).map(\.title) == ["COM.example.DOTO"])
        #expect(started.messages(for: client, at: TestPolicy.noon).map(\.title) == ["COM.example.DOTO"])
    }

    @Test("Look-up: an app whose name is what upgrader takes for a demand demands nothing by it")
    func lookupName() throws {
        let document = try said(.lookup, [("id", "123456789")]) { policy in
            policy.apps[0].name = "F [:mav: 9.9.9]"
            policy.rules.removeAll { $0.lockout }
        }
        let host = ReaderHost(version: "1.0.0", build: 10, os: "17.0", platform: "ios")
        #expect(FeedReader.upgraderLookup.decision(Data(document.utf8), host) == .prompt("1.2.0"))
    }

    @Test("Prince of Versions before 4 on Android: an app that calls itself 1.1.0-play may be the very release 1.1.0")
    func princeOfVersionsFlavours() throws {
        let document = Data(try said(.princeOfVersions).utf8)
        func decision(_ version: String) -> ReaderDecision {
            let host = ReaderHost(version: version, build: 20, os: "14", platform: "android")
            return FeedReader.princeOfVersionsAndroidBefore4.decision(document, host)
        }
        #expect(decision("1.0.9") == .lockout("1.1.0-0"))
        #expect(decision("1.1.0-play") == .prompt("1.2.0") && decision("1.1.0") == .prompt("1.2.0"))
        #expect(decision("1.2.0") == .nothing)
    }

    @Test("Every format announces the newest release to those below it where a rule ends above it")
    func endsAboveNewest() throws {
        var policy = try FeedExample.policy().policy
        policy.releases.removeAll { $0.version > "1.1.0" }
        policy.rules = [TestPolicy.rule("a") { $0.versions = "<1.2.0" }]
        let compiled = try CompiledPolicy(policy)
        for reader in FeedReader.allCases {
            #expect(reader.decision(by: compiled, "1.0.0", 10) != .nothing, "\(reader)")
            #expect(reader.decision(by: compiled, "1.1.0", 20) == .nothing, "\(reader)")
        }
    }

    @Test(
        "A User-Agent of Apple's tells a platform where the app is on iOS alone, and a lone platform is not everybody's"
    )
    func platforms() throws {
        let darwin = "Doto/10 CFNetwork/1498.700.2 Darwin/23.6.0"
        func floor(
            _ agent: String?,
            _ query: [(name: String, value: String)] = [],
            where change: (inout Policy) -> Void = { _ in }
        ) throws -> String? {
            var policy = try FeedExample.policy().policy
            change(&policy)
            let question = FeedQuestion(format: nil, bundle: FeedExample.bundle, query: query, userAgent: agent)
            let source = FeedSource(question, try CompiledPolicy(policy), TestPolicy.noon)
            let platform = source.app?.platform(of: question) ?? ""
            return source.announcement(on: platform, naming: .any)?.floor?.version.text
        }
        func isOnIOSAlone(_ policy: inout Policy) {
            policy.releases.removeAll { $0.platform != "ios" }
            policy.apps[0].storeLinks.removeAll { $0.platform == "macos" }
        }
        #expect(try floor(darwin, where: isOnIOSAlone) == "1.1.0")
        #expect(try floor(darwin) == nil)
        #expect(try floor(darwin) { $0.releases.removeAll { $0.platform == "macos" } } == nil, "it has a link")
        #expect(try floor(darwin, [("platform", "ios")]) == "1.1.0")
        #expect(try floor("okhttp/4.9.2") == "1.1.0")
        #expect(try floor("MyApp/1 (Android)", where: isOnIOSAlone) == nil)
        #expect(try floor(nil, where: isOnIOSAlone) == nil)
    }

    @Test("Appcasts: what is no link that browsers open makes no item, and without a word for whom, there are none")
    func appcastsWithoutItems() throws {
        for reader in ["flutter", "sparkle"] {
            let document = try said(.appcast, [("for", reader)]) { policy in
                policy.apps[0].storeLinks = ["macos", "android", "ios"].map {
                    StoreLink(platform: $0, link: "market://details?id=x")
                }
            }
            #expect(AppcastReading.items(Data(document.utf8))?.isEmpty == true)
        }
        for reader in ["", "sparkles"] { #expect(try !said(.appcast, [("for", reader)]).contains("<item>")) }
        #expect(try said(.appcast, [("for", "Sparkle")]) == said(.appcast, [("for", "sparkle")]))
    }

    @Test("Pre-releases: a version that clients compare each their own way is not announced")
    func prereleases() throws {
        for (version, isAnnounced) in [("1.1.5", true), ("1.1.5-beta", false)] {
            var policy = try FeedExample.policy().policy
            for platform in ["ios", "android", "macos"] {
                policy.releases.append(
                    TestPolicy.release(version) {
                        ($0.id, $0.platform, $0.build) = (Int64(policy.releases.count + 1), platform, "25")
                    }
                )
            }
            policy.rules = [TestPolicy.rule("a") { ($0.target, $0.lockout) = (version, true) }]
            let compiled = try CompiledPolicy(policy)
            // Sparkle compares builds.
            for (name, format, query) in FeedExample.questions(FeedExample.bundle) where name != "appcast-sparkle.xml" {
                let document = FeedExample.document(format, query, policy: compiled)
                #expect(document.contains(version) == isAnnounced, "\(name)")
            }
        }
    }

    @Test("Builds: whoever has the version is not asked to update, whichever build of it")
    func builds() throws {
        var policy = try FeedExample.policy().policy
        func decisions(_ version: String, _ build: Int) throws -> [ReaderDecision] {
            let policy = try CompiledPolicy(policy)
            return FeedReader.allCases.filter(\.comparesBuilds).map { $0.decision(by: policy, version, build) }
        }
        // 1.2.0 is recorded as build 30, and 1.1.0 as 20: a test build of 1.2.0 has a number between them.
        policy.rules.removeAll { $0.key != "everyday" }
        #expect(try decisions("1.2.0", 25) == [.nothing, .nothing])
        #expect(try !decisions("1.1.0", 20).contains(.nothing))
        // Builds that do not grow tell nothing.
        for index in policy.releases.indices where policy.releases[index].version == "1.1.0" {
            policy.releases[index].build = "2020"
        }
        #expect(try decisions("1.1.0", 2020) == [.nothing, .nothing])
        // Nor does the only one that is recorded.
        policy.releases.removeAll { $0.version != "1.2.0" }
        #expect(try decisions("1.2.0", 25) == [.nothing, .nothing])
    }

    @Test("A version that a format has no room for is not announced; a lower one is")
    func fallsBack() throws {
        for (format, target, expected) in [
            (.updates, "2.0.0-rc1", #""version":"1.3.0""#), (.updates, "1.2.0.5", #""comparing":8"#),
            (.princeOfVersions, "1.2.0.5", #""latest_version":{"version":"1.2.0""#),
            (.lookup, "1.2.1500", #""version":"1.2.0""#), (.iVersion, "1.2.1500", "<key>1.2.1500</key>"),
        ] as [(FeedFormat, String, String)] {
            let document = try said(format, format == .lookup ? [("bundleId", FeedExample.bundle)] : []) { policy in
                for (version, minOS) in [("2.0.0-rc1", "18"), ("1.2.0.5", nil), ("1.2.1500", nil)] {
                    let id = Int64(policy.releases.count + 1)
                    policy.releases.append(TestPolicy.release(version) { ($0.id, $0.minOS) = (id, minOS) })
                }
                policy.rules.append(TestPolicy.rule("odd") { ($0.target, $0.position) = (target, -1) })
            }
            #expect(document.contains(expected), "\(target): \(document)")
        }
    }

    @Test("iVersion: notes of releases that nobody can get stay with their owner")
    func notesOfOthers() throws {
        var policy = try FeedExample.policy().policy
        let changes: [(inout Release) -> Void] = [
            { $0.staged = true }, { $0.liveAt = TestPolicy.noon.advanced(byMicroseconds: 1) },
            { $0.withdrawnAt = TestPolicy.noon }, { $0.regions = ["JP"] }, { _ in },
        ]
        for (number, change) in changes.enumerated() {
            policy.releases.append(
                TestPolicy.release("1.1.\(number + 1)") { release in
                    (release.id, release.notes) = (
                        Int64(100 + number), [ReleaseNote(language: "und", text: "note\(number)")]
                    )
                    change(&release)
                }
            )
        }
        let compiled = try CompiledPolicy(policy)
        func shown(_ query: [(name: String, value: String)]) -> [Int] {
            let document = FeedExample.document(.iVersion, query, policy: compiled)
            return changes.indices.filter { document.contains("note\($0)") }
        }
        #expect(shown([]) == [4])
        #expect(shown([("region", "ja_JP")]) == [3, 4])
        #expect(shown([("region", "US")]) == [4])
    }

    @Test("An Apple User-Agent names the major system by its kernel, and the query wins")
    func darwin() throws {
        for (query, darwin, isNewest) in [
            ([], "24.0.0", true), ([], "23.1.0", false), ([], "99.1.0", false), ([("os", "17.0")], "24.0.0", false),
            ([("os", "18.0")], "23.1.0", true),
        ] as [([(name: String, value: String)], String, Bool)] {
            let document = try said(.iVersion, query, agent: "Doto/7 CFNetwork/1568.1 Darwin/\(darwin)")
            #expect(document.contains("<key>1.3.0</key>") == isNewest, "\(query), \(darwin)")
        }
    }

    @Test("Sparkle's User-Agent names the version")
    func sparkleAgent() throws {
        func builds(_ agent: String) throws -> [String?] {
            let document = try said(.appcast, [("for", "sparkle"), ("os", "15.0")], agent: agent)
            return try #require(AppcastReading.items(Data(document.utf8))).map { $0.elements["sparkle:version"] }
        }
        #expect(try builds("My App/1.2.0 Sparkle/2.6.0") == [])
        #expect(try builds("My App/1.1.0 Sparkle/2.6.0") == ["30"])
        #expect(try builds("curl/8") == ["21"])
    }

    @Test("A document says which fields of the request it depends on")
    func vary() {
        func vary(_ format: FeedFormat, _ query: [(name: String, value: String)]) -> [String] {
            FeedQuestion(format: format, bundle: "b", query: query).vary
        }
        #expect(vary(.iVersion, []) == ["Accept-Language", "User-Agent"])
        #expect(vary(.iVersion, [("os", "17"), ("language", "de")]) == [])
        #expect(vary(.appcast, [("for", "flutter")]) == ["Accept-Language"])
        #expect(vary(.appcast, [("for", "sparkle"), ("os", "17")]) == ["Accept-Language", "User-Agent"])
        #expect(vary(.appcast, [("for", "sparkle"), ("os", "17"), ("version", "1")]) == ["Accept-Language"])
    }
}

@Suite("What documents leave out")
struct FeedLossTests {
    /// Each rule that is left out of a document, with the platform where there are several, and why.
    private func losses(
        _ format: FeedFormat?,
        _ rule: Rule,
        _ query: [(name: String, value: String)] = [],
        where change: (inout Policy) -> Void = { _ in }
    ) throws -> [String] {
        var policy = try FeedExample.policy().policy
        policy.rules = [rule]
        change(&policy)
        let query = query + (format == .lookup ? [("bundleId", FeedExample.bundle)] : [])
        let question = FeedQuestion(format: format, bundle: format == .lookup ? nil : FeedExample.bundle, query: query)
        return FeedLoss.all(answering: question, by: try CompiledPolicy(policy), at: TestPolicy.noon).map {
            "\($0.key)\($0.platform.map { " on \($0)" } ?? ""): \($0.reason)"
        }
    }

    @Test("An update of everybody is in every document, and a lockout where the format has one")
    func lockout() throws {
        let update = TestPolicy.rule("a") { $0.target = "1.2.0" }
        let lockout = TestPolicy.rule("a") { ($0.versions, $0.lockout) = ("<1.2.0", true) }
        let template: FeedFormat? = nil
        for (format, query, lost) in [
            (.iVersion, [], "The lockout is left out: this format has none."), (.updates, [], nil),
            (.princeOfVersions, [], nil),
            (.lookup, [], "The lockout is left out, except with upgrader: its clients cannot put the update off."),
            (.appcast, [("for", "flutter")], nil),
            (
                .appcast, [("for", "sparkle")],
                "Nobody is locked out: clients cannot skip the update, but the app keeps working."
            ),
            (template, [("platform", "ios")], nil),
        ] as [(FeedFormat?, [(name: String, value: String)], String?)] {
            #expect(try losses(format, update, query) == [], "\(query)")
            #expect(try losses(format, lockout, query) == (lost.map { ["a: \($0)"] } ?? []), "\(query)")
        }
    }

    @Test("What a rule depends on and the question leaves open is named")
    func conditions() throws {
        let japan = TestPolicy.rule("a") { ($0.target, $0.platforms, $0.regions) = ("1.2.0", ["ios"], ["JP"]) }
        #expect(try losses(.updates, japan) == ["a: It depends on region, which the question leaves open."])
        #expect(try losses(.updates, japan, [("region", "JP")]) == [])
        // It is not for these clients.
        #expect(try losses(.updates, japan, [("region", "US")]) == [])
        #expect(try losses(.appcast, japan, [("for", "sparkle")]) == [])
        #expect(
            try losses(.princeOfVersions, japan) == ["a on ios: It depends on region, which the question leaves open."]
        )
        let late = TestPolicy.rule("a") { $0.target = "1.3.0" }
        #expect(try losses(.updates, late) == ["a: Clients on 18 or later are told of it, and no others."])
        #expect(try losses(.iVersion, late).first?.hasPrefix("a: As far as is known") == true)
        let above = TestPolicy.rule("a") { $0.versions = "<3" }
        #expect(
            try losses(.iVersion, above, [("os", "18")]).first?.hasPrefix("a: Clients below 1.3.0 are told") == true
        )
        let single = TestPolicy.rule("a") { $0.versions = "1.1.0" }
        #expect(try losses(.iVersion, single).first?.hasPrefix("a: A document can only say") == true)
        #expect(try losses(.iVersion, single, [("version", "1.1.0")]) == [])
        for change in [{ $0.enabled = false }, { $0.endsAt = TestPolicy.noon }] as [(inout Rule) -> Void] {
            var off = single
            change(&off)
            #expect(try losses(.iVersion, off) == [], "it is off")
        }
        #expect(try losses(.iVersion, single) { $0.apps[0].paused = true } == [])
    }

    @Test("What a document needs and the policy does not have is named")
    func obstacles() throws {
        let rule = TestPolicy.rule("a") { $0.target = "1.2.0" }
        func bare(_ policy: inout Policy) {
            policy.apps[0].storeLinks = []
            for index in policy.releases.indices { policy.releases[index].build = nil }
        }
        #expect(try losses(.lookup, rule, where: bare) == ["a: The app has no number in the App Store."])
        #expect(
            try losses(.appcast, rule, [("for", "flutter"), ("platform", "android")], where: bare)
                == ["a: The app has no store link for android that begins with https."]
        )
        #expect(try losses(.appcast, rule).first?.contains("does not say for whom") == true)
        #expect(
            try losses(.princeOfVersions, rule, where: bare).map { String($0.prefix(38)) } == [
                "a on android: The clients compare buil"
            ]
        )
        let odd = TestPolicy.rule("a") { $0.target = "1.2.0-rc1" }
        #expect(
            try losses(.updates, odd).first
                == "a: 1.2.0-rc1 is not written as at most 4 numbers without leading zeros, so clients may misjudge it."
        )
        #expect(try losses(nil, rule) == ["a: The question names no platform."])
        let below = TestPolicy.rule("a") { $0.versions = "<1.2.0" }
        #expect(try losses(nil, below, [("platform", "windows")]) == ["a: The app has no release on windows."])
    }
}
