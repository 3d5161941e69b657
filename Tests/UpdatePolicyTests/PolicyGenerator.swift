// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestRandom
import UpdatePolicy

/// A maker of random policies and clients that nearly meet each other.
struct PolicyGenerator {
    var random: SeededGenerator
    private static let versions = ["1", "1.0.1", "1.1", "1.1-beta", "1.2-0", "1.2", "1.2.1", "1.3", "2", "2.0.5", "3"]
    private static let ranges = [
        "<1.2", ">=1.1 <1.3", "1.x", "1.0 || 1.2", "~1.1", "*", ">1.2", "<=1.2.x", "=1.2", "2 - 3", "<1 || >2",
    ]
    private static let builds = ["1", "40", "41", "42", "43"]
    private static let regions = ["JP", "US", "DE", "FR"]
    private static let platforms = ["ios", "android", "macos"]
    private static let bundles = ["com.example.doto", "com.example.other"]

    init(_ random: SeededGenerator) {
        self.random = random
    }

    private mutating func maybe<Value>(_ percent: Int, _ make: (inout Self) -> Value) -> Value? {
        random.chance(percent) ? make(&self) : nil
    }

    private mutating func some(_ elements: [String], _ most: Int) -> [String] {
        Array(elements.shuffled(using: &random).prefix(Int.random(in: 1...most, using: &random)))
    }

    mutating func time() -> Timestamp {
        TestPolicy.hours(Int64.random(in: -3...3, using: &random), microseconds: random.pick([0, 0, -1, 1]))
    }

    private mutating func rollout() -> Percentage {
        Percentage(hundredths: random.pick([0, 1, 2500, 5000, 9999, 10_000])) ?? .all
    }

    mutating func rule(_ number: Int) -> Rule {
        Rule(
            key: "r\(number)",
            bundle: maybe(80) { $0.random.pick(Self.bundles) },
            enabled: random.chance(90),
            position: Int.random(in: -1...3, using: &random),
            versions: maybe(60) { $0.random.pick(Self.ranges) },
            builds: maybe(15) { $0.random.pick(["<42", ">=41", "42", "40 - 41"]) },
            os: maybe(15) { $0.random.pick(["<15", ">=15", "14.x"]) },
            platforms: maybe(40) { $0.some(Self.platforms, 2) },
            regions: maybe(30) { $0.some(Self.regions, 3) },
            languages: maybe(15) { $0.some(["de", "zh-Hant", "*", "zh", "de-AT"], 3) },
            attributes: maybe(30) { generator in
                ["channel", "device"].shuffled(using: &generator.random)
                    .prefix(Int.random(in: 1...2, using: &generator.random))
                    .map { AttributeCondition(name: $0, values: generator.some(["a", "b", "c", "1", "true"], 3)) }
            },
            target: maybe(20) { $0.random.pick(Self.versions) },
            soak: SoakTime(microseconds: random.pick([0, 0, 3_600_000_000, 7_200_000_000])),
            rollout: random.chance(60) ? .all : rollout(),
            startsAt: maybe(15) { $0.time() },
            endsAt: maybe(15) { $0.time() },
            title: "t",
            text: "x",
            lockout: random.chance(40),
            lockoutWithoutUpdate: random.chance(20),
            final: random.chance(5),
            steps: random.chance(15)
                ? [-2, 0, 1].map { RolloutStep(at: TestPolicy.hours($0), rollout: rollout()) } : []
        )
    }

    mutating func release(_ id: Int) -> Release {
        Release(
            id: Int64(id),
            bundle: random.pick(Self.bundles),
            platform: random.pick(Self.platforms),
            version: random.pick(Self.versions),
            build: maybe(50) { $0.random.pick(Self.builds) },
            minOS: maybe(30) { $0.random.pick(["14", "15", "16.1"]) },
            regions: maybe(30) { $0.some(Self.regions, 2) },
            liveAt: maybe(85) { $0.time() },
            staged: random.chance(15),
            withdrawnAt: maybe(15) { $0.time() }
        )
    }

    mutating func policy(rules: Int) -> Policy {
        Policy(
            revision: 1,
            token: "t",
            apps: Self.bundles.map { App(bundle: $0, paused: random.chance(3)) },
            releases: (0..<Int.random(in: 0...20, using: &random)).map { release($0) },
            rules: (0..<rules).map { rule($0) }.shuffled(using: &random)
        )
    }

    mutating func client() throws -> Client {
        var client = Client()
        let members: [(String, String?)] = [
            ("bundle", random.pick(Self.bundles + ["COM.Example.DOTO", "unknown"])),
            ("version", maybe(90) { $0.random.pick(Self.versions + ["?", "1.1.9", "1.2.0"]) }),
            ("build", maybe(60) { $0.random.pick(Self.builds + ["?"]) }),
            ("platform", maybe(90) { $0.random.pick(["iOS", "iPadOS", "Android", "macos", "web"]) }),
            ("region", maybe(70) { $0.random.pick(["JP", "en_US", "de-DE", "en", "GB"]) }),
            ("os", maybe(60) { $0.random.pick(["14", "14.8", "15", "16.1", "?"]) }),
            ("language", maybe(50) { $0.random.pick(["de_AT", "zh-Hant-TW", "zh", "en"]) }),
            ("install", maybe(70) { "install-\(Int.random(in: 0...500, using: &$0.random))" }),
            ("channel", maybe(50) { $0.random.pick(["a", "b", "c"]) }),
            ("device", maybe(50) { $0.random.pick(["a", "1", "true", "x"]) }),
        ]
        for (name, value) in members.shuffled(using: &random) {
            if let value { try client.set(UTF8Text(name), to: .text(UTF8Text(value))) }
        }
        return client
    }
}
