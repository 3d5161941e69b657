// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestRandom
import Testing
import UpdateFeeds
import UpdatePolicy

@Suite("Release lint", .computing, .serialized)
struct ReleaseLintTests {
    private static let now = Timestamp(secondsSince1970: 1_800_000_000)

    /// The lint of releases by `VERSION` or `VERSION/BUILD`.
    private static func lint(_ platform: String, _ releases: String..., inUse: [String] = []) -> ReleaseLint {
        ReleaseLint(
            platform: platform,
            releases: releases.map { text in
                let parts = text.split(separator: "/").map(String.init)
                return Release(
                    id: 0,
                    bundle: "a",
                    platform: platform,
                    version: parts[0],
                    build: parts.count > 1 ? parts[1] : nil
                )
            },
            versionsInUse: inUse,
            at: now
        )
    }

    private static func finding(
        _ client: ClientComparison,
        _ lint: ReleaseLint
    ) throws -> ReleaseLint.Finding {
        let findings = lint.findings.filter { $0.client == client }
        #expect(findings.count == 1, "\(findings.map(\.sentence))")
        return try #require(findings.first)
    }

    @Test("One version in two spellings is an update for a client that counts the parts")
    func spellings() throws {
        let lint = Self.lint("ios", "1.2.0", inUse: ["1.2"])
        #expect(lint.findings.map(\.client) == [.iVersion163, .numericSearch])
        let finding = try Self.finding(.numericSearch, lint)
        #expect(
            finding.sentence
                == "1.2 and 1.2.0 are the same version; iVersion (and Siren up to 6) takes 1.2.0 for an update and asks again after it"
        )
        #expect((finding.kind, finding.cause) == (.asksInVain, .differentParts))
        #expect((finding.installed, finding.offered, finding.others) == ("1.2", "1.2.0", 0))
    }

    @Test("A pre-release is above its release for clients that compare it as text")
    func preReleases() throws {
        let lint = Self.lint("ios", "2.0.0-beta", "2.0.0")
        let finding = try Self.finding(.updates, lint)
        #expect(finding.sentence == "2.0.0-beta is newer than 2.0.0 for Updates: its users are never asked")
        #expect((finding.kind, finding.cause) == (.neverAsks, .preRelease))
        let same = try Self.finding(.siren7, lint)
        #expect(same.sentence == "2.0.0-beta and 2.0.0 are the same for Siren 7: users of 2.0.0-beta are never asked")
        #expect(!lint.findings.contains { $0.client == .reactNativeVersionCheck || $0.client == .upgrader })
    }

    @Test("A newest release that a client cannot read asks nobody, also where it is the only one")
    func unreadableNewest() throws {
        for lint in [Self.lint("android", "1.2.3.4"), Self.lint("android", "1.2.3.4", "1.2.3.3", inUse: ["1.0.0"])] {
            let finding = try Self.finding(.reactNativeVersionCheck, lint)
            #expect(
                finding.sentence == "1.2.3.4 has 4 parts: react-native-version-check cannot read it and asks nobody"
            )
            #expect((finding.kind, finding.cause, finding.others) == (.asksNobody, .moreThanThreeParts, 0))
        }
        let calendar = try Self.finding(.reactNativeVersionCheck, Self.lint("ios", "2024.10.05", "2024.9.30"))
        #expect(calendar.sentence.hasPrefix("2024.10.05 has a leading zero: "))
        #expect(calendar.cause == .leadingZero)
        let build = try Self.finding(.upgrader, Self.lint("linux", "1.2 (45)", "1.1"))
        #expect(build.sentence == "1.2 (45) has more than numbers and dots: upgrader cannot read it and asks nobody")
        #expect(build.cause == .affix)
    }

    @Test("Users of a version that a client cannot read are never asked")
    func unreadableInstalled() throws {
        let finding = try Self.finding(.upgrader, Self.lint("web", "1.2b3", "1.2"))
        #expect(finding.sentence == "1.2b3 is a pre-release: upgrader cannot read it and never asks users of 1.2b3")
        #expect((finding.kind, finding.cause) == (.neverAsks, .preRelease))
        let great = try Self.finding(.appUpdater, Self.lint("android", "1.2.20261122000", "1.2.3", "1.0.0"))
        #expect(
            great.sentence
                == "1.2.20261122000 has a number that is too large: AppUpdater cannot read it and never asks users of 1.2.3"
        )
        #expect(great.cause == .largeNumber)
    }

    @Test("Four parts fail an assertion of versionToInt: as the newest nobody is asked, as installed everybody always")
    func assertions() throws {
        let newest = try Self.finding(.versionToInt, Self.lint("ios", "1.2.3.4", "1.2.3"))
        #expect(
            newest.sentence
                == "1.2.3.4 has 4 parts: a hand-written look-up (versionToInt) takes it for 0 and asks nobody"
        )
        let installed = try Self.finding(.versionToInt, Self.lint("ios", "1.2.3", inUse: ["1.2.3.0"]))
        #expect(
            installed.sentence
                == "1.2.3.0 has 4 parts: a hand-written look-up (versionToInt) takes it for 0 and asks its users at every start"
        )
        #expect(installed.kind == .asksInVain)
        #expect(
            Self.lint("ios", "1.2.3.4", "1.2.3").findings.filter { $0.client == .updates }.map(\.sentence) == [
                "1.2.3 and 1.2.3.4 are the same for Updates: users of 1.2.3 are never asked"
            ]
        )
    }

    @Test("Parts that differ in number and numbers above 31 bits are told of for Android-Siren")
    func androidSiren() throws {
        let parts = try Self.finding(.androidSiren, Self.lint("android", "1.3.0", "1.2"))
        #expect(
            parts.sentence
                == "1.2 and 1.3.0 have different numbers of parts: Android-Siren does not compare them, and asks users of 1.2 by version code alone"
        )
        let great = try Self.finding(.androidSiren, Self.lint("android", "1.4294967296", "1.1"))
        #expect(great.sentence == "1.4294967296 has a number that is too large: Android-Siren crashes on it")
        #expect((great.kind, great.others) == (.crashes, 1))
    }

    @Test("A later version in use can be taken for older than the newest release")
    func laterInUse() throws {
        let finding = try Self.finding(.princeOfVersions, Self.lint("macos", "1.3.0", inUse: ["1.3b.1", "1.4b1"]))
        #expect(finding.sentence == "1.4b1 is newer than 1.3.0; Prince of Versions takes 1.3.0 for an update")
        #expect(finding.kind == .asksInVain)
    }

    @Test("Sparkle compares builds where the newest release has one, else versions")
    func builds() throws {
        let finding = try Self.finding(.sparkle, Self.lint("macos", "1.3/99", "1.2/100", "1.1/98", inUse: ["1.0"]))
        #expect(finding.sentence == "1.2 (100) is newer than 1.3 (99) for Sparkle: its users are never asked")
        #expect((finding.cause, finding.installed, finding.offered) == (.builds, "1.2 (100)", "1.3 (99)"))
        let same = try Self.finding(.sparkle, Self.lint("macos", "1.3/7", "1.2/7"))
        #expect(same.sentence == "1.2 (7) and 1.3 (7) are the same for Sparkle: users of 1.2 (7) are never asked")
        #expect(Self.lint("macos", "1.2.0/2", "1.2.0/1").findings.isEmpty)
        let versions = try Self.finding(.sparkle, Self.lint("macos", "1.3.0", "1.3.0-rc", inUse: ["1.0.0"]))
        #expect(versions.sentence.hasPrefix("1.3.0-rc and 1.3.0 are the same for Sparkle: "))
    }

    @Test("Findings of one client for one reason are one, with the first version as its example")
    func grouping() throws {
        let lint = Self.lint("ios", "2.0.0", "2.0.0-beta1", "2.0.0-beta2", inUse: ["2.0.0-rc", "2.0", "2"])
        let findings = lint.findings.filter { $0.client == .numericSearch }
        #expect(findings.map(\.kind) == [.neverAsks, .asksInVain])
        #expect(findings.map(\.installed) == ["2.0.0-beta2", "2.0"])
        #expect(findings.map(\.others) == [2, 1])
    }

    @Test("The newest release is one that is not withdrawn, and only those of the platform count")
    func newest() {
        func release(_ platform: String, _ version: String, withdrawnAt: Timestamp? = nil) -> Release {
            Release(id: 0, bundle: "a", platform: platform, version: version, withdrawnAt: withdrawnAt)
        }
        let releases = [
            release("IOS", "1.2"), release("ios", "1.3.0", withdrawnAt: Self.now),
            release("android", "1.2.0"),
        ]
        #expect(ReleaseLint(platform: "ios", releases: [releases[0]], at: Self.now).findings.isEmpty)
        let lint = ReleaseLint(platform: "iPadOS", releases: releases, at: Self.now)
        #expect(lint.platform == "ios")
        // 1.3.0 is above 1.2 for all, and no client of ios sees the 1.2.0 of android.
        #expect(lint.findings.isEmpty, "\(lint.findings.map(\.sentence))")
        let withdrawn = ReleaseLint(platform: "ios", releases: [releases[1]], versionsInUse: ["1.3"], at: Self.now)
        #expect(withdrawn.findings.isEmpty)
        #expect(withdrawn.recommendation == nil)
        #expect(Self.lint("amiga", "1.2.3.4", "v1").findings.isEmpty)
    }

    @Test("The recommendation keeps the number of parts that all versions have")
    func recommendations() throws {
        let two = try #require(Self.lint("ios", "1.2", "1.2-beta").recommendation)
        #expect(two.contains("with two numbers from 0 to 999") && two.contains("as in 1.2:"), "\(two)")
        let mixed = try #require(Self.lint("ios", "1.2.0", inUse: ["1.2"]).recommendation)
        #expect(mixed.contains("with three numbers from 0 to 999") && mixed.contains("as in 1.2.0:"), "\(mixed)")
        let four = try #require(Self.lint("ios", "1.2.3.4").recommendation)
        #expect(four.contains("with three numbers"), "\(four)")
        #expect(try #require(Self.lint("android", "07").recommendation).contains("with one number from"))
    }

    @Test("Versions of the same number of parts, each from 0 to 999 without leading zeros, are misjudged by no client")
    func safeSubset() throws {
        var random = SeededGenerator()
        for _ in 0..<Trials.count(20_000) {
            let parts = Int.random(in: 1...3, using: &random)
            var version: String {
                (0..<parts).map { _ in
                    String(Int.random(in: 0...(random.chance(50) ? 3 : 999), using: &random))
                }.joined(separator: ".")
            }
            let versions = (0..<4).map { _ in version }
            // Builds rise with versions, as stores want it.
            let builds = random.chance(50)
            let platform = random.pick(["ios", "android", "macos", "web"])
            let ordered = versions.compactMap { AppVersion($0) }.sorted()
            let lint = ReleaseLint(
                platform: platform,
                releases: ordered.dropFirst().enumerated().map { index, version in
                    Release(
                        id: 0,
                        bundle: "a",
                        platform: platform,
                        version: version.text,
                        build: builds ? String(index + 8) : nil
                    )
                },
                versionsInUse: [ordered[0].text],
                at: Self.now
            )
            #expect(lint.findings.isEmpty, "\(lint.findings.map(\.sentence)), seed \(random.seed)")
        }
    }

    @Test("A finding is there if, and only if, a client and versiongate decide differently")
    func completeness() throws {
        var random = SeededGenerator()
        var found = 0
        let pieces = ["0", "1", "2", "10", "01", "1000", "4294967296"]
        let ends = ["", "", "", "-beta", "b2", "rc10", "+45", " (45)", "-45"]
        for _ in 0..<Trials.count(20_000) {
            let versions = (0..<2).map { _ in
                (0..<Int.random(in: 1...4, using: &random)).map { _ in random.pick(pieces) }.joined(separator: ".")
                    + random.pick(ends)
            }
            let (offered, installed) = (try #require(AppVersion(versions[0])), try #require(AppVersion(versions[1])))
            let platform = random.pick(["ios", "android", "macos"])
            let lint = Self.lint(platform, offered.text, inUse: [installed.text])
            for client in ClientComparison.allCases where client.platforms.contains(platform) {
                let findings = lint.findings.filter { $0.client == client }
                let outcome = client.outcome(installed: installed.text, offered: offered.text)
                let newest = client.outcome(installed: offered.text, offered: offered.text)
                let place = Comment("\(client.name): \(installed) beside \(offered), seed \(random.seed)")
                let crashes = [outcome, newest].contains(.undecidable(.crash))
                #expect(findings.contains { $0.kind == .crashes } == crashes, place)
                // A release build of versionToInt takes for 0 what a debug build ends at.
                let isZero =
                    client.outcome(installed: installed.text, offered: installed.text) == .undecidable(.assertion)
                let doesAsk = outcome == .newer || (isZero && newest != .undecidable(.assertion))
                let isTold = findings.contains { $0.kind != .crashes && $0.installed == installed.text }
                // That nobody is asked is told once, with the newest release as the example of who is not.
                if findings.contains(where: { $0.kind == .asksNobody }) {
                    #expect(!doesAsk && [.undecidable(.error), .undecidable(.assertion)].contains(newest), place)
                } else if outcome != .undecidable(.crash) {
                    #expect(isTold == (doesAsk != (installed < offered)), place)
                }
                if isTold { found += 1 }
            }
        }
        #expect(found > 0)
    }
}
