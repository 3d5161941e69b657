import TestPolicies
import TestRandom
import TestSystem
import Testing
import UpdatePolicy

@Suite("Announcements", .computing, .serialized)
struct AnnouncementTests {
    private static func said(
        _ rules: [Rule],
        _ releases: [Release],
        _ members: KeyValuePairs<String, String> = ["platform": "ios"]
    ) throws -> String {
        let policy = try TestPolicy.policy(rules, releases: releases)
        let announcer = try #require(policy.announcer(for: TestPolicy.client(members), at: TestPolicy.noon))
        let announcement = announcer.announcement()
        return "\(announcement.prompt?.version.text ?? "-") \(announcement.floor?.version.text ?? "-")"
    }

    private static let twelve = [TestPolicy.release("1.2"), TestPolicy.release("1.1") { $0.id = 2 }]

    @Test("A rule prompts to a version if it is sent to exactly those below it, and the version can be had")
    func everydayRules() throws {
        let cases: [(String, (inout Rule) -> Void)] = [
            ("1.2 -", { $0.target = "1.2" }),
            ("1.2 1.2", { ($0.target, $0.lockout) = ("1.2", true) }),
            ("1.1 -", { $0.versions = "<1.1" }),
            // The release spells its version, whatever the rule writes.
            ("1.2 -", { ($0.versions, $0.platforms) = ("<1.2.0", ["ios"]) }),
            ("- -", { ($0.versions, $0.platforms) = ("<1.2", ["android"]) }),
            ("- -", { $0.versions = "<=1.1" }),
            ("- -", { $0.versions = "<=1.1.x" }),
            ("- -", { $0.versions = ">=1.0 <1.2" }),
            ("- -", { _ in }),
            ("- -", { $0.versions = "1.1" }),
            ("- -", { ($0.target, $0.rollout) = ("1.2", Percentage(hundredths: 9_999)!) }),
            ("- -", { ($0.target, $0.regions) = ("1.2", ["JP"]) }),
            ("- -", { ($0.target, $0.enabled) = ("1.2", false) }),
            ("1.1 1.1", { ($0.versions, $0.lockout, $0.lockoutWithoutUpdate) = ("<1.1", true, true) }),
        ]
        for (expected, change) in cases {
            let rule = TestPolicy.rule("a", change)
            #expect(try Self.said([rule], Self.twelve) == expected, "\(rule)")
        }
    }

    @Test(
        "An announcement may be shown as often as the message of those that it stands for that may be shown least often"
    )
    func shows() throws {
        func most(_ shows: Int64?..., members: KeyValuePairs<String, String> = ["platform": "ios"]) throws -> Int64? {
            let rules = zip(["1.1", "1.2", "1.3"], shows).map { target, shows in
                TestPolicy.rule(target) { ($0.target, $0.shows) = (target, shows) }
            }
            let policy = try TestPolicy.policy(rules, releases: Self.twelve)
            let announcer = try #require(policy.announcer(for: TestPolicy.client(members), at: TestPolicy.noon))
            return try #require(announcer.announcement().prompt).shows
        }
        #expect(try most(nil, nil) == nil)
        #expect(try most(5, 3) == 3)
        #expect(try most(5, nil) == 5)
        #expect(try most(nil, 3, 1) == 3, "nobody can get 1.3")
        #expect(try most(1, 3, members: ["platform": "ios", "version": "1.1"]) == 3, "1.1 is not asked for 1.1")
    }

    @Test("A rule that ends above what can be had announces that to those below it, and demands what a check demands")
    func endsAboveOffer() throws {
        let cases: [(String, (inout Rule) -> Void)] = [
            ("1.2 -", { $0.versions = "<2.0" }),
            ("1.2 -", { $0.versions = "<=1.2" }),
            ("1.2 -", { ($0.versions, $0.platforms) = ("<1.2.1", ["ios"]) }),
            // The offer does not lead out of it.
            ("1.2 -", { ($0.versions, $0.lockout) = ("<2.0", true) }),
            ("1.2 1.2", { ($0.versions, $0.lockout) = ("<1.2 || >=1.3 <2.0", true) }),
            ("1.2 1.2", { ($0.versions, $0.lockout, $0.lockoutWithoutUpdate) = ("<2.0", true, true) }),
            // A message for every version is no update.
            ("- -", { $0.versions = "*" }),
            ("- -", { $0.versions = ">=0-0" }),
            ("- -", { $0.versions = ">=1.0 <2.0" }),
            ("- -", { $0.versions = ">=1.2 <2.0" }),
            ("1.1 -", { $0.versions = "<1.1 || >=1.2 <2.0" }),
            ("- -", { $0.versions = "<1.1.5 || >=1.2 <2.0" }),
            ("- -", { ($0.versions, $0.target) = ("<2.0", "1.3") }),
        ]
        for (expected, change) in cases {
            let rule = TestPolicy.rule("a", change)
            #expect(try Self.said([rule], Self.twelve) == expected, "\(rule.versions ?? "-")")
        }
        let floor = TestPolicy.rule("b") { ($0.versions, $0.lockout) = ("<1.1", true) }
        let above = TestPolicy.rule("a") { $0.versions = "<2.0" }
        #expect(try Self.said([above, floor], Self.twelve) == "1.2 1.1")
        #expect(try Self.said([above], Self.twelve, ["platform": "ios", "version": "1.1"]) == "1.2 -")
        #expect(try Self.said([above], Self.twelve, ["platform": "ios", "version": "1.2"]) == "- -")
        let news = TestPolicy.rule("a") { $0.versions = ">=1.0" }
        #expect(try Self.said([news], Self.twelve, ["platform": "ios", "version": "1.1"]) == "- -")
    }

    @Test("Without a platform nothing is announced, and a final rule of some platform may be sent")
    func noPlatform() throws {
        let final = TestPolicy.rule("a") { ($0.platforms, $0.final) = (["ios"], true) }
        let target = TestPolicy.rule("a") { ($0.target, $0.final) = ("1.2", true) }
        let news = TestPolicy.rule("b")
        func messages(_ rules: [Rule], _ members: KeyValuePairs<String, String>) throws -> [String]? {
            let policy = try TestPolicy.policy(rules, releases: Self.twelve)
            return policy.announcer(for: try TestPolicy.client(members), at: TestPolicy.noon)?.certainMessages()?.map(
                \.id)
        }
        #expect(try Self.said([TestPolicy.rule("a") { $0.versions = "<1.2" }], Self.twelve, [:]) == "- -")
        #expect(try messages([news], [:]) == ["b"])
        #expect(try messages([final, news], [:]) == [])
        #expect(try messages([final, news], ["platform": "android"]) == ["b"])
        #expect(try messages([target, news], ["version": "1.1"]) == [])
        #expect(try messages([target, news], ["version": "1.1", "platform": "android"]) == ["b"])
    }

    @Test("What nobody else spells is spelled as the rule writes it")
    func spelling() throws {
        for (expected, range) in [
            ("1.1.5", "<1.1.5 || <=1.0"), ("1.1.05", "<=1.0 || <1.1.05"), ("1.1.5", "<1.1.5 <1.1.5.0"),
            ("v1.1.5", ">=0-0 < v1.1.5"), ("1.1.5-0", "<1.1.5-0 <=1.1.4.x"), ("-", "<=1.1.4.x"),
        ] {
            #expect(try Self.said([TestPolicy.rule("a") { $0.versions = range }], Self.twelve) == "\(expected) -")
        }
        let both = TestPolicy.rule("a") { ($0.versions, $0.target) = ("<1.1.5.0 || 1.3", "1.1.5") }
        #expect(try Self.said([both], Self.twelve) == "1.1.5 -")
    }

    @Test("An announcement takes as long, however long the ranges are that its rules are written in")
    func longRanges() throws {
        func cost(_ sides: Int) throws -> UInt64 {
            let rules = (1...500).map { number in
                TestPolicy.rule("r\(number)") {
                    $0.versions = String(repeating: "<0.1||", count: sides) + "<1.1.9.\(number)"
                }
            }
            let policy = try TestPolicy.policy(rules, releases: Self.twelve)
            let client = try TestPolicy.client(["platform": "ios"])
            return CPUTime.least(of: 5) {
                let announcer = policy.announcer(for: client, at: TestPolicy.noon) { version, _ in
                    !version.text.hasPrefix("1.1.9")
                }
                _ = announcer?.announcement()
            }
        }
        let (short, long) = (try cost(1), try cost(400))
        #expect(long < 4 * short, "\(long) ns, beside \(short) ns")
    }

    @Test("Rules that together are sent to everything below a version prompt to it")
    func union() throws {
        let rules = [
            TestPolicy.rule("a") { $0.versions = "<1.1" },
            TestPolicy.rule("b") { ($0.versions, $0.lockout) = (">=1.0 <1.2", true) },
        ]
        #expect(try Self.said(rules, Self.twelve) == "1.2 -")
    }

    @Test("A final rule that may be sent stops those after it")
    func finals() throws {
        let final = TestPolicy.rule("a") { ($0.versions, $0.final, $0.regions) = ("1.0", true, ["JP"]) }
        let update = TestPolicy.rule("b") { $0.target = "1.2" }
        #expect(try Self.said([final, update], Self.twelve) == "- -")
        #expect(try Self.said([final, update], Self.twelve, ["platform": "ios", "region": "US"]) == "1.2 -")
        var after = final
        after.position = 1
        #expect(try Self.said([after, update], Self.twelve) == "1.2 -")
    }

    @Test("A release on a condition is no offer to who may not meet it")
    func conditions() throws {
        let releases = [TestPolicy.release("1.2") { $0.minOS = "17" }, TestPolicy.release("1.1") { $0.id = 2 }]
        let rules = ["1.1", "1.2"].map { target in TestPolicy.rule(target) { $0.target = target } }
        #expect(try Self.said(rules, releases) == "1.1 -")
        #expect(try Self.said(rules, releases, ["platform": "ios", "os": "17.1"]) == "1.2 -")
        let policy = try TestPolicy.policy(rules, releases: releases)
        let client = try TestPolicy.client(["platform": "ios"])
        let announcer = try #require(policy.announcer(for: client, at: TestPolicy.noon))
        let some = announcer.announcementForSomeSystems(beyond: announcer.announcement())
        #expect(some?.prompt?.version.text == "1.2")
        #expect(some?.leastSystem?.text == "17")
        for (family, version) in [("17", "1.2"), ("16", "1.1")] {
            let announcement = policy.announcer(for: client, systemFamily: family, at: TestPolicy.noon)?.announcement()
            #expect(announcement?.prompt?.version.text == version)
        }
    }

    @Test("A question with a version is about that version alone")
    func oneVersion() throws {
        let bad = TestPolicy.rule("a") { ($0.versions, $0.lockout) = ("1.1.3", true) }
        #expect(try Self.said([bad], Self.twelve, ["platform": "ios", "version": "1.1.3"]) == "1.2 1.2")
        #expect(try Self.said([bad], Self.twelve, ["platform": "ios", "version": "1.1.4"]) == "- -")
        let news = TestPolicy.rule("a") { ($0.lockout, $0.lockoutWithoutUpdate) = (true, true) }
        #expect(try Self.said([news], Self.twelve, ["platform": "ios", "version": "1.1"]) == "- -")
        // Without a target, the soak is about the way out alone.
        let soaking = TestPolicy.rule("a") {
            ($0.versions, $0.lockout, $0.lockoutWithoutUpdate, $0.soak) = (
                "<1.2", true, true, DayTimeInterval(microseconds: 86_400_000_000)
            )
        }
        #expect(try Self.said([soaking], Self.twelve) == "1.2 1.2")
        #expect(try Self.said([soaking], Self.twelve, ["platform": "ios", "version": "1.1"]) == "1.2 1.2")
    }

    @Test("All rules of an app are swept at once, however many there are")
    func manyRules() throws {
        let count = Trials.count(100_000)
        let rules =
            (0..<count).map { number in
                TestPolicy.rule("r\(number)") {
                    ($0.versions, $0.position) = (">=0.\(number) <0.\(number + 1)", number % 7)
                }
            } + [TestPolicy.rule("z") { $0.versions = "<0.1" }]
        let releases = [TestPolicy.release("1.0")]
        let policy = try TestPolicy.policy(rules, releases: releases)
        let announcer = policy.announcer(for: try TestPolicy.client(["platform": "ios"]), at: TestPolicy.noon)
        let announcement = announcer?.announcement()
        #expect(announcement?.prompt?.version.text == "0.\(count)")
        #expect(announcement?.prompt?.rules.count == count + 1)
    }
}

@Suite("Announcements of random policies", .computing, .serialized)
struct AnnouncementPropertyTests {
    private static let count = Trials.count(5_000)

    private static let style: PolicyStyle = {
        var style = PolicyStyle.crowded
        style.pools.versions = ["1", "1.0.1", "1.1", "1.1-beta", "1.2-0", "1.2", "1.2.1", "1.3"]
        style.pools.ranges = [
            "<1.2", "<1.1", "<1.3", "<1.0.1", ">=1.1 <1.3", "<1.1 || >=1.1 <1.2", "~1.1", "*", "<=1.2.x", "=1.2",
            "<1.2-0", "<1.1-beta", ">=1.1-beta <1.2", "<=1.1", "<1.1 || 1.2", ">=1 <1.2.1",
        ]
        style.pools.bundles = ["com.example.doto"]
        style.pools.hours = [-3, -2, -1, 0]
        style.chances.set([
            \.ios: 95, \.staged: 5, \.withdrawnAt: 5, \.minOS: 20, \.releaseRegions: 12, \.target: 45, \.bundle: 85,
            \.builds: 6, \.os: 8, \.platforms: 8, \.regions: 8, \.languages: 5, \.attributes: 5, \.fullRollout: 85,
            \.startsAt: 4, \.endsAt: 4, \.lockout: 55, \.final: 12, \.steps: 4, \.versions: 45, \.enabled: 95,
            \.paused: 1,
        ])
        return style
    }()

    private static let values: [(name: String, values: [String])] = [
        ("build", ["1", "40", "41", "42", "43", "?"]),
        ("region", ["JP", "US", "DE", "FR", "GB", "en", "English"]),
        ("os", ["13", "14", "14.8", "15", "16", "16.1", "17", "?", "x"]),
        ("language", ["de_AT", "zh-Hant-TW", "zh", "en"]),
        ("install", (0..<40).map { "install-\($0)" }),
        ("channel", ["a", "b", "c", "x"]),
        ("device", ["a", "1", "true", "x"]),
    ]

    private typealias Members = [(name: String, value: String)]

    /// The members of a question with a value for some of those that it does not name.
    private static func completed(
        _ members: Members,
        leastSystem: AppVersion?,
        isWhole: Bool = false,
        _ random: inout SeededGenerator
    ) -> Members {
        var members = members
        for (name, values) in values where !members.contains(where: { $0.name == name }) {
            if name == "os", let leastSystem {
                let systems = (values + [leastSystem.text]).filter { AppVersion($0).map { $0 >= leastSystem } ?? false }
                members.append((name, random.pick(systems)))
            } else if isWhole || random.chance(70) {
                members.append((name, random.pick(values)))
            }
        }
        return members
    }

    @Test("Every client below what is announced is sent a message and can update, and nothing greater would do")
    func everyVersion() throws {
        var generator = PolicyGenerator(Self.style, SeededGenerator())
        let seed = generator.random.seed
        print("announcements: seed \(seed)")
        var counts = (prompts: 0, floors: 0, some: 0, policies: 0)
        for _ in 0..<Self.count {
            let policy = generator.policy(rules: generator.random.pick([1, 2, 3, 6]))
            let compiled = try CompiledPolicy(policy)
            let time = generator.time()
            var members: Members = [
                ("bundle", "com.example.doto"), ("platform", generator.random.pick(["ios", "ios", "android"])),
            ]
            for (name, values) in Self.values where generator.random.chance(30) {
                members.append((name, generator.random.pick(values)))
            }
            let question = try TestPolicy.client(of: members)
            guard let announcer = compiled.announcer(for: question, at: time) else { continue }
            counts.policies += 1
            let every = announcer.announcement()
            let some = announcer.announcementForSomeSystems(beyond: every)
            for announcement in [every, some].compactMap(\.self) {
                if announcement.prompt != nil { counts.prompts += 1 }
                if announcement.floor != nil { counts.floors += 1 }
                if announcement.leastSystem != nil { counts.some += 1 }
                let oracle = AnnouncementOracle(policy, question, time, leastSystem: announcement.leastSystem)
                let expected = oracle.announced()
                #expect(
                    announcement.prompt?.version == expected.prompt && announcement.floor?.version == expected.floor,
                    """
                    \(announcement.prompt?.version.text ?? "-") \(announcement.floor?.version.text ?? "-") instead of \
                    \(expected.prompt?.text ?? "-") \(expected.floor?.text ?? "-"), from \
                    \(announcement.leastSystem?.text ?? "-"), \(members) at \(time), \(policy), seed \(seed)
                    """
                )
                guard let prompt = announcement.prompt else { continue }
                for _ in 0..<4 {
                    let members = Self.completed(members, leastSystem: announcement.leastSystem, &generator.random)
                    try expectSent(announcement, prompt, members, compiled, oracle, time, seed)
                }
            }
        }
        print("announcements: \(counts)")
        #expect(counts.prompts > counts.policies / 20)
        #expect(counts.floors > counts.policies / 40)
        #expect(counts.some > counts.policies / 400 || !Trials.areLong)
    }

    private func expectSent(
        _ announcement: Announcement,
        _ prompt: AnnouncedVersion,
        _ members: Members,
        _ policy: CompiledPolicy,
        _ oracle: AnnouncementOracle,
        _ time: Timestamp,
        _ seed: UInt64
    ) throws {
        let rules = Set(prompt.rules.map(\.key))
        let complete = try TestPolicy.client(of: members)
        let offer = AnnouncementOracle(policy.policy, complete, time).offers(nil, isStrict: false).releases.last
        let isOffered = offer.flatMap { AppVersion($0.version) }.map { $0 >= prompt.version } ?? false
        #expect(isOffered, "\(prompt.version) for \(members), seed \(seed)")
        for version in oracle.universe where version < prompt.version {
            let client = try TestPolicy.client(of: members + [("version", version.text)])
            let messages = policy.messages(for: client, at: time)
            #expect(
                messages.contains { rules.contains($0.id) },
                "\(prompt.version) at \(version) \(members) at \(time), \(policy.policy), seed \(seed)"
            )
            guard let floor = announcement.floor?.version,
                AnnouncementOracle.numbers(version) < AnnouncementOracle.numbers(floor)
            else { continue }
            #expect(
                messages.contains { $0.lockout },
                "floor \(floor) at \(version) \(members) at \(time), \(policy.policy), seed \(seed)"
            )
        }
    }

    @Test("What is announced to one version holds for every client of it")
    func oneVersion() throws {
        var generator = PolicyGenerator(Self.style, SeededGenerator())
        let seed = generator.random.seed
        print("announcements to one version: seed \(seed)")
        var counts = (prompts: 0, floors: 0)
        for _ in 0..<Self.count {
            let policy = generator.policy(rules: generator.random.pick([1, 2, 3, 6]))
            let compiled = try CompiledPolicy(policy)
            let time = generator.time()
            var members: Members = [
                ("bundle", "com.example.doto"), ("platform", "ios"),
                ("version", generator.random.pick(Self.style.pools.versions)),
            ]
            for (name, values) in Self.values where generator.random.chance(40) {
                members.append((name, generator.random.pick(values)))
            }
            let question = try TestPolicy.client(of: members)
            guard let announcement = compiled.announcer(for: question, at: time)?.announcement() else { continue }
            if announcement.prompt != nil { counts.prompts += 1 }
            if announcement.floor != nil { counts.floors += 1 }
            for _ in 0..<4 {
                let members = Self.completed(members, leastSystem: nil, &generator.random)
                try expectAsked(announcement.prompt, isFloor: false, members, compiled, time, seed)
                try expectAsked(announcement.floor, isFloor: true, members, compiled, time, seed)
            }
            // Where everything is known, each message with a target is announced.
            let complete = Self.completed(members, leastSystem: nil, isWhole: true, &generator.random)
            let client = try TestPolicy.client(of: complete)
            let messages = compiled.messages(for: client, at: time)
            let asked = try #require(compiled.announcer(for: client, at: time)).announcement()
            if messages.isEmpty { #expect(asked.prompt == nil, "\(complete), \(policy), seed \(seed)") }
            let aimed = messages.filter { message in policy.rules.contains { $0.key == message.id && $0.target != nil }
            }
            let oracle = AnnouncementOracle(policy, client, time)
            let offer = oracle.offers(nil, isStrict: false).releases.last.flatMap { AppVersion($0.version) }
            if let offer, let version = client.version, version < offer {
                let isEnding = messages.contains { message in
                    policy.rules.contains { $0.key == message.id && $0.target == nil && oracle.ends($0) }
                }
                #expect(!isEnding || asked.prompt != nil, "\(complete) at \(time), \(policy), seed \(seed)")
            }
            let isAsked = aimed.isEmpty || asked.prompt != nil
            let isLockedOut = !aimed.contains { $0.lockout } || asked.floor != nil
            // An unreadable system counts against ways out alone, and an equal version with a greater build is above.
            if client.os != nil, client.region != nil {
                #expect(isAsked && isLockedOut, "\(complete) at \(time), \(policy), seed \(seed)")
            }
        }
        print("announcements to one version: \(counts)")
        #expect(counts.prompts > Self.count / 20)
        #expect(counts.floors > Self.count / 40)
    }

    @Test("A gate closes for the first rule that locks out every client of its question, however far it may look")
    func gates() throws {
        var generator = PolicyGenerator(Self.style, SeededGenerator())
        let seed = generator.random.seed
        print("gates: seed \(seed)")
        var counts = (gates: 0, closed: 0, open: 0, unfinished: 0)
        for _ in 0..<Self.count {
            let policy = generator.policy(rules: generator.random.pick([1, 2, 3, 6, 12]))
            let compiled = try CompiledPolicy(policy)
            let time = generator.time()
            for _ in 0..<4 {
                var members: Members = [("bundle", "com.example.doto")]
                let fields = [("version", Self.style.pools.versions + ["?"]), ("platform", ["ios", "ios", "android"])]
                for (name, values) in fields + Self.values where generator.random.chance(name == "version" ? 95 : 60) {
                    members.append((name, generator.random.pick(values)))
                }
                let client = try TestPolicy.client(of: members)
                let comment: Comment = "\(members) at \(time), \(policy), seed \(seed)"
                // What is sent to every client is found in another way: each rule is asked for each condition.
                let certain = compiled.announcer(for: client, at: time)?.certainMessages()?.first(where: \.lockout)?.id
                let isListed = policy.apps.contains { $0.bundle == "com.example.doto" }
                let expected = (isListed ? certain : nil).map { CertainLockout.rule($0) } ?? .open
                #expect(compiled.lockout(of: client, at: time) == expected, comment)
                let steps = Int.random(in: 0..<20, using: &generator.random)
                let few = compiled.lockout(of: client, at: time, within: steps)
                #expect(few == expected || few == .unfinished, comment)
                #expect(compiled.sendingLockouts(false).lockout(of: client, at: time) == .open)
                counts.gates += 1
                if few == .unfinished { counts.unfinished += 1 }
                if expected != .open {
                    counts.closed += 1
                } else if compiled.messages(for: client, at: time).contains(where: \.lockout) {
                    counts.open += 1
                }
            }
        }
        print("gates: \(counts)")
        #expect(counts.closed > 0 && counts.open > 0 && counts.unfinished > 0)
    }

    private func expectAsked(
        _ announced: AnnouncedVersion?,
        isFloor: Bool,
        _ members: Members,
        _ policy: CompiledPolicy,
        _ time: Timestamp,
        _ seed: UInt64
    ) throws {
        guard let announced else { return }
        let client = try TestPolicy.client(of: members)
        let sent = policy.messages(for: client, at: time).filter { !isFloor || $0.lockout }.map(\.id)
        let keys = announced.rules.map(\.key)
        #expect(
            keys.allSatisfy(sent.contains),
            "\(announced.version) for \(members) at \(time), \(policy.policy), seed \(seed)"
        )
        let offer = AnnouncementOracle(policy.policy, client, time).offers(nil, isStrict: false).releases.last
        #expect(
            offer.flatMap { AppVersion($0.version) }.map { $0 >= announced.version } ?? false,
            "\(announced.version) for \(members), seed \(seed)"
        )
        // With the version announced in place of its own, none of these messages comes again but where its rule ends above it.
        var updated = members.filter { $0.name != "version" && $0.name != "build" }
        updated.append(("version", announced.version.text))
        if let build = announced.build ?? client.buildText?.string { updated.append(("build", build)) }
        let after = policy.messages(for: try TestPolicy.client(of: updated), at: time).map(\.id)
        let oracle = AnnouncementOracle(policy.policy, client, time)
        let isEndingAbove = policy.policy.rules.contains { rule in
            rule.key == announced.message.id && rule.target == nil && oracle.ends(rule)
                && client.version.map { $0 < announced.version } ?? false
        }
        #expect(
            isEndingAbove || !keys.contains { key in after.contains(key) && announced.message.id == key },
            "\(announced.version) for \(members) at \(time), \(policy.policy), seed \(seed)"
        )
    }
}
