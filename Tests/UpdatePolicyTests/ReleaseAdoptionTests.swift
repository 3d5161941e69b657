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

    @Test("The release before the newest is the greatest one below it that users of its platform can get")
    func previous() throws {
        let releases = [
            TestPolicy.release("1.1") { $0.liveAt = TestPolicy.hours(-90) },
            TestPolicy.release("1.2") { $0.liveAt = TestPolicy.hours(-48) },
            TestPolicy.release("1.2.0") { $0.liveAt = TestPolicy.hours(-50) },
            TestPolicy.release("1.3"),
            TestPolicy.release("1.2.5") { $0.withdrawnAt = TestPolicy.hours(-1) },
            TestPolicy.release("1.2.6") { $0.platform = "android" },
        ]
        let newest = NewestRelease.perPlatform(releases, at: TestPolicy.noon)
        let previous = newest.map { $0.previous(among: releases, at: TestPolicy.noon) }
        #expect(newest.map(\.platform) == ["android", "ios"])
        #expect(previous.map(\.?.version) == [nil, AppVersion("1.2")])
        #expect(previous.map(\.?.liveAt) == [nil, TestPolicy.hours(-50)])
    }

    @Test(
        "The adoption of a release has reached a part in the first hour in which that part of the checks came from it"
    )
    func reached() throws {
        let release = try #require(NewestRelease.perPlatform([TestPolicy.release("1.3")], at: TestPolicy.noon).first)
        func period(_ hours: Int64, _ checks: Int64, _ reached: Int64) -> ReleaseAdoption.Period {
            ReleaseAdoption.Period(start: TestPolicy.hours(hours), checks: checks, reached: reached)
        }
        let early = [period(-20, 11, 4), period(-30, 100, 100), period(-19, 0, 0)]
        let adoption = ReleaseAdoption(of: release, periods: early)
        #expect(adoption.periods == [period(-20, 11, 4)])
        #expect(adoption.start(reaching: 50) == nil)
        #expect(adoption.microseconds(toReach: 50) == nil)
        let reached = ReleaseAdoption(of: release, periods: early + [period(-9, 10, 9), period(-10, 10, 5)])
        #expect(reached.start(reaching: 50) == TestPolicy.hours(-10))
        #expect(reached.microseconds(toReach: 50) == 50_400_000_000)
        #expect(reached.microseconds(toReach: 90) == 54_000_000_000)
        #expect(reached.microseconds(toReach: 91) == nil)
        let atOnce = ReleaseAdoption(of: release, periods: [period(-24, 1, 1)])
        #expect(atOnce.microseconds(toReach: 90) == 0)
    }
}
