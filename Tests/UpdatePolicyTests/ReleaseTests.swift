import TestPolicies
import Testing
import UpdatePolicy

@Suite("Releases")
struct ReleaseTests {
    @Test("A soak counts in hours of 24 to a day and is reached inclusively")
    func soak() throws {
        let liveAt = try #require(Timestamp("2026-03-28T11:00:00Z"))
        let policy = try TestPolicy.policy(
            [
                TestPolicy.rule("r") {
                    $0.target = "1.2"
                    $0.soak = DayTimeInterval(days: 2, microseconds: 0)
                }
            ],
            releases: [TestPolicy.release("1.2") { $0.liveAt = liveAt }]
        )
        let client = try TestPolicy.client(["version": "1.1", "platform": "ios"])
        let before = try #require(Timestamp("2026-03-30T10:59:59Z"))
        #expect(policy.keys(client, at: before) == [])
        #expect(policy.keys(client, at: try #require(Timestamp("2026-03-30T11:00:00Z"))) == ["r"])
        let explained = try #require(policy.explain(client, at: before).first)
        #expect(explained.condition == "target")
        #expect(explained.expected == ">=1.2")
        #expect(explained.actual == nil)
        #expect(explained.release == "1.2: soaks until 2026-03-30T11:00:00Z")
    }

    @Test("A release that is withdrawn before it is live is withdrawn already, and is told of as nothing to come")
    func withdrawnBeforeLive() {
        func events(_ change: (inout Release) -> Void) -> [PolicyEvent.Kind] {
            Policy(revision: 1, token: "", releases: [TestPolicy.release("1.2", change)])
                .eventsOfNextDay(at: TestPolicy.noon).map(\.kind)
        }
        #expect(events { ($0.liveAt, $0.withdrawnAt) = (TestPolicy.hours(2), TestPolicy.hours(1)) } == [])
        #expect(events { ($0.liveAt, $0.withdrawnAt) = (TestPolicy.hours(2), TestPolicy.hours(2)) } == [])
        #expect(events { $0.withdrawnAt = TestPolicy.noon } == [])
        #expect(events { $0.withdrawnAt = TestPolicy.hours(1) } == [.releaseWithdrawn])
        #expect(
            events { ($0.liveAt, $0.withdrawnAt) = (TestPolicy.hours(1), TestPolicy.hours(2)) }
                == [.releaseLive, .releaseWithdrawn]
        )
    }

    @Test(
        "An operating system that cannot be judged is lenient for a target and strict for a way out",
        arguments: [
            ("15", ["a", "b!"]), ("14.8", ["b"]), ("", ["a", "b"]), ("Version 17.2 (Build 21C62)", ["a", "b"]),
        ]
    )
    func minimumOS(_ os: String, _ keys: [String]) throws {
        let policy = try TestPolicy.policy(
            [
                TestPolicy.rule("a") { $0.target = "1.2" },
                TestPolicy.rule("b") {
                    $0.versions = "<1.2"
                    $0.lockout = true
                },
            ],
            releases: [TestPolicy.release("1.2") { $0.minOS = "15" }]
        )
        #expect(policy.keys(try TestPolicy.client(["version": "1.1", "platform": "ios", "os": os])) == keys)
    }

    static let blocked = TestPolicy.rule("r") {
        $0.versions = ">=2.3 <2.3.5"
        $0.lockout = true
        $0.soak = DayTimeInterval(days: 1, microseconds: 0)
    }

    @Test("An older release, a staged one and one that still soaks are no way out")
    func wayOut() throws {
        let older = TestPolicy.release("2.2") { $0.liveAt = TestPolicy.hours(-100) }
        func keys(_ releases: [Release], _ hours: Int64) throws -> [String] {
            try TestPolicy.policy([Self.blocked], releases: releases)
                .keys(try TestPolicy.client(["version": "2.3.1", "platform": "ios"]), at: TestPolicy.hours(hours))
        }
        func newer(_ change: (inout Release) -> Void) -> Release {
            TestPolicy.release("2.3.5") {
                $0.id = 2
                $0.liveAt = TestPolicy.noon
                change(&$0)
            }
        }
        #expect(try keys([older], 24) == ["r"])
        #expect(try keys([older, newer { $0.staged = true }], 24) == ["r"])
        #expect(try keys([older, newer { _ in }], 23) == ["r"])
        #expect(try keys([older, newer { _ in }], 24) == ["r!"])
        #expect(try keys([older, newer { $0.withdrawnAt = TestPolicy.hours(24) }], 24) == ["r"])
        #expect(try keys([older, newer { $0.withdrawnAt = TestPolicy.hours(25) }], 24) == ["r!"])
    }

    @Test(
        "A build that the release does not record counts as matching, an older one is no way out",
        arguments: [(nil, "r"), ("40", "r"), ("41", "r"), ("42", "r!")]
    )
    func builds(_ build: String?, _ key: String) throws {
        let policy = try TestPolicy.policy(
            [
                TestPolicy.rule("r") {
                    $0.versions = "1.2"
                    $0.builds = "<42"
                    $0.lockout = true
                }
            ],
            releases: [TestPolicy.release("1.2") { $0.build = build }]
        )
        #expect(policy.keys(try TestPolicy.client(["version": "1.2", "build": "41", "platform": "ios"])) == [key])
    }

    @Test(
        "A greater version whose build is not recorded counts as matching any builds",
        arguments: [(nil, "r"), ("41", "r"), ("42", "r!")]
    )
    func unrecordedBuild(_ build: String?, _ key: String) throws {
        let policy = try TestPolicy.policy(
            [
                TestPolicy.rule("r") {
                    $0.builds = "<42"
                    $0.lockout = true
                }
            ],
            releases: [TestPolicy.release("1.3") { $0.build = build }]
        )
        #expect(policy.keys(try TestPolicy.client(["version": "1.2", "build": "40", "platform": "ios"])) == [key])
    }

    @Test("With an unreadable version the build decides whether the offer is above")
    func unreadableVersion() throws {
        let policy = try TestPolicy.policy(
            [
                TestPolicy.rule("r") {
                    $0.builds = "<42"
                    $0.lockout = true
                }
            ],
            releases: [TestPolicy.release("1.2") { $0.build = "42" }]
        )
        #expect(policy.keys(try TestPolicy.client(["version": "?", "build": "41", "platform": "ios"])) == ["r!"])
        #expect(policy.keys(try TestPolicy.client(["build": "41", "platform": "ios"])) == ["r!"])
    }

    @Test("The offer is what the store hands out: when that is locked out too, nobody is")
    func offerIsLockedOut() throws {
        let policy = try TestPolicy.policy(
            [
                TestPolicy.rule("r") {
                    $0.versions = "1.0 || 1.2"
                    $0.lockout = true
                }
            ],
            releases: [TestPolicy.release("1.1"), TestPolicy.release("1.2") { $0.id = 2 }]
        )
        let client = try TestPolicy.client(["version": "1.0", "platform": "ios"])
        #expect(policy.keys(client) == ["r"])
        let explained = try #require(policy.explain(client, at: TestPolicy.noon).first)
        #expect(explained.outcome == .sentWithoutLockout)
        #expect(explained.condition == "lockout")
        #expect(explained.expected == "a way out")
        #expect(explained.actual == "the rule matches the offer")
        #expect(explained.release == "1.2")
    }

    @Test(
        "Outside the regions and platforms of a release there is no way out",
        arguments: [
            ("ios", "JP", true), ("ios", "en", true), ("", "US", false), ("android", "US", false), ("ios", "US", true),
        ]
    )
    func regions(_ platform: String, _ region: String, _ hasLink: Bool) throws {
        let policy = try TestPolicy.policy(
            [
                TestPolicy.rule("r") {
                    $0.versions = "<1.2"
                    $0.lockout = true
                    $0.link = "store"
                }
            ],
            releases: [TestPolicy.release("1.2") { $0.regions = ["US"] }],
            apps: [
                App(
                    bundle: TestPolicy.bundle,
                    storeLinks: [StoreLink(platform: "ios", link: "https://apps.apple.com/1")]
                )
            ]
        )
        let client = try TestPolicy.client(["version": "1.1", "platform": platform, "region": region])
        let isLockedOut = platform == "ios" && region == "US"
        #expect(policy.keys(client) == [isLockedOut ? "r!" : "r"])
        let link = policy.messages(for: client, at: TestPolicy.noon).first?.link
        #expect(link == (hasLink ? "https://apps.apple.com/1" : nil))
    }

    @Test("Several rows of a version may differ in region and time")
    func severalRows() throws {
        let policy = try TestPolicy.policy(
            [TestPolicy.rule("r") { $0.target = "1.2" }],
            releases: [
                TestPolicy.release("1.2") { $0.regions = ["US"] },
                TestPolicy.release("1.2") {
                    $0.id = 2
                    $0.regions = ["JP"]
                    $0.liveAt = TestPolicy.hours(1)
                },
            ]
        )
        let client = try TestPolicy.client(["version": "1.1", "platform": "ios", "region": "JP"])
        #expect(policy.keys(client) == [])
        #expect(policy.explain(client, at: TestPolicy.noon).first?.release == "1.2: region US")
        #expect(policy.keys(client, at: TestPolicy.hours(1)) == ["r"])
    }

    @Test(
        "The release that is waited for is told with what it waits for",
        arguments: [
            (TestPolicy.release("1.2") { $0.staged = true }, "1.2: staged"),
            (TestPolicy.release("1.2") { $0.liveAt = nil }, "1.2: no live date"),
            (TestPolicy.release("1.2") { $0.liveAt = TestPolicy.hours(1) }, "1.2: live from 2026-03-01T13:00:00Z"),
            (TestPolicy.release("1.2") { $0.regions = ["JP", "US"] }, "1.2: region JP, US"),
            (
                TestPolicy.release("1.2") {
                    $0.minOS = "18.0"
                    $0.build = "42"
                }, "1.2 (42): os 18.0"
            ),
            (TestPolicy.release("1.2") { $0.withdrawnAt = TestPolicy.hours(-1) }, nil),
            // Withdrawn before it was live: nobody ever gets it.
            (
                TestPolicy.release("1.2") {
                    $0.liveAt = TestPolicy.hours(1)
                    $0.withdrawnAt = TestPolicy.hours(1)
                }, nil
            ),
            (TestPolicy.release("1.1"), nil),
            (TestPolicy.release("1.2") { $0.platform = "android" }, nil),
        ]
    )
    func awaited(_ release: Release, _ told: String?) throws {
        let policy = try TestPolicy.policy([TestPolicy.rule("r") { $0.target = "1.2" }], releases: [release])
        let client = try TestPolicy.client(["version": "1.0", "platform": "iOS", "region": "DE", "os": "17"])
        let explained = try #require(policy.explain(client, at: TestPolicy.noon).first)
        #expect(explained.outcome == .noMatch)
        #expect(explained.condition == "target")
        #expect(explained.expected == ">=1.2")
        #expect(explained.actual == (release.version == "1.1" ? "1.1" : nil))
        #expect(explained.release == told)
    }

    @Test("A client at its target or without a readable version is told so", arguments: ["1.2", "2", "abc"])
    func targetReached(_ version: String) throws {
        let policy = try TestPolicy.policy(
            [TestPolicy.rule("r") { $0.target = "1.2" }],
            releases: [TestPolicy.release("1.2")]
        )
        let client = try TestPolicy.client(["version": version, "platform": "ios"])
        let explained = try #require(policy.explain(client, at: TestPolicy.noon).first)
        #expect(explained.expected == "<1.2")
        #expect(explained.actual == (version == "abc" ? "abc (cannot be read as a version)" : version))
        #expect(explained.release == nil)
    }

    @Test("The offer that a message was sent for is told")
    func offerTold() throws {
        let policy = try TestPolicy.policy(
            [
                TestPolicy.rule("a") { $0.target = "1.2" },
                TestPolicy.rule("b") {
                    $0.versions = "<1.2"
                    $0.lockout = true
                },
                TestPolicy.rule("c") {
                    $0.lockout = true
                    $0.lockoutWithoutUpdate = true
                },
            ],
            releases: [
                TestPolicy.release("1.2") { $0.build = "7" },
                TestPolicy.release("1.3") {
                    $0.id = 2
                    $0.regions = ["US"]
                },
            ]
        )
        let client = try TestPolicy.client(["version": "1.1", "platform": "ios"])
        let explained = policy.explain(client, at: TestPolicy.noon)
        #expect(explained.map(\.release) == ["1.3", "1.2 (7)", nil])
        #expect(explained.allSatisfy { $0.outcome == .sent && $0.condition == nil })
    }
}
