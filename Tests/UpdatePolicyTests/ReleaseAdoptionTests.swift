// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestPolicies
import Testing
import UpdatePolicy

@Suite("Release adoption")
struct ReleaseAdoptionTests {
    @Test(
        "The adoption of a release is that of the greatest release of each platform that users can get, since the first of them could"
    )
    func newest() {
        let releases = [
            TestPolicy.release("1.2") { $0.liveAt = TestPolicy.hours(-48) },
            TestPolicy.release("1.3") { $0.regions = ["JP"] },
            TestPolicy.release("1.3") { $0.liveAt = TestPolicy.hours(-30) },
            TestPolicy.release("1.4") { $0.staged = true },
            TestPolicy.release("1.5") { $0.liveAt = TestPolicy.hours(1) },
            TestPolicy.release("1.6") { $0.withdrawnAt = TestPolicy.hours(-1) },
            TestPolicy.release("9") { $0.platform = "android" },
        ]
        let newest = NewestRelease.perPlatform(releases, at: TestPolicy.noon)
        #expect(newest.map(\.platform) == ["android", "ios"])
        #expect(newest.map(\.version.text) == ["9", "1.3"])
        #expect(newest.map(\.liveAt) == [TestPolicy.hours(-24), TestPolicy.hours(-30)])
    }

    @Test(
        "The adoption of a release has reached half in the first hour in which half of the checks came from it or a greater version"
    )
    func half() throws {
        let release = try #require(NewestRelease.perPlatform([TestPolicy.release("1.3")], at: TestPolicy.noon).first)
        func count(_ hours: Int64, _ version: String?, _ checks: Int64) -> ReleaseAdoption.Count {
            ReleaseAdoption.Count(start: TestPolicy.hours(hours), version: version, checks: checks)
        }
        let early = [count(-30, "1.3", 100), count(-20, "1.3", 4), count(-20, "1.2", 6), count(-20, nil, 1)]
        let adoption = ReleaseAdoption(of: release, counts: early)
        #expect(adoption.halfAt == nil)
        #expect(adoption.microsecondsToHalf == nil)
        let later =
            early + [count(-10, "1.3.0", 4), count(-10, "1.4-beta", 1), count(-10, "?", 5), count(-9, "1.3", 1)]
        let reached = ReleaseAdoption(of: release, counts: later)
        #expect(reached.halfAt == TestPolicy.hours(-10))
        #expect(reached.microsecondsToHalf == 50_400_000_000)
        let atOnce = ReleaseAdoption(of: release, counts: [count(-24, "1.3", 1)])
        #expect(atOnce.microsecondsToHalf == 0)
    }
}
