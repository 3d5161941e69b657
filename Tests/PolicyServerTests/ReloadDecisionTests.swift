// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("The decision to reload")
struct ReloadDecisionTests {
    private static func time(_ seconds: Int64) -> Timestamp {
        Timestamp(microsecondsSince1970: seconds * 1_000_000)
    }

    private static func version(_ revision: Int64, _ token: String) -> PolicyVersion {
        PolicyVersion(revision: revision, token: token)
    }

    @Test("loads what it has not seen, and not what it has")
    func loadsWhatIsNew() async {
        var decision = ReloadDecision()
        #expect(await decision.shouldLoad(Self.version(1, "a"), at: Self.time(0), isPrimary: { false }) == true)
        decision.loaded(Self.version(1, "a"))
        #expect(await decision.shouldLoad(Self.version(1, "a"), at: Self.time(1), isPrimary: { false }) == false)
        #expect(await decision.shouldLoad(Self.version(2, "b"), at: Self.time(2), isPrimary: { false }) == true)
    }

    @Test("loads another history that stands at the same revision")
    func loadsAnotherHistory() async {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        #expect(await decision.shouldLoad(Self.version(100, "b"), at: Self.time(0), isPrimary: { false }) == true)
    }

    @Test("takes a lower revision of a standby only after it stood for 30 seconds")
    func waitsForLowerRevisions() async {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        #expect(await decision.shouldLoad(Self.version(90, "b"), at: Self.time(0), isPrimary: { false }) == false)
        #expect(await decision.shouldLoad(Self.version(90, "b"), at: Self.time(29), isPrimary: { false }) == false)
        #expect(await decision.shouldLoad(Self.version(90, "b"), at: Self.time(30), isPrimary: { false }) == true)
    }

    @Test("begins to wait anew when a lagging standby moves on or catches up")
    func waitsAnew() async {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        #expect(await decision.shouldLoad(Self.version(90, "b"), at: Self.time(0), isPrimary: { false }) == false)
        #expect(await decision.shouldLoad(Self.version(95, "c"), at: Self.time(29), isPrimary: { false }) == false)
        #expect(await decision.shouldLoad(Self.version(95, "c"), at: Self.time(31), isPrimary: { false }) == false)
        #expect(await decision.shouldLoad(Self.version(100, "a"), at: Self.time(40), isPrimary: { false }) == false)
        #expect(await decision.shouldLoad(Self.version(95, "c"), at: Self.time(60), isPrimary: { false }) == false)
    }

    @Test("takes lower revisions of a primary after 2 seconds, and those of edits made meanwhile")
    func believesPrimary() async {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        #expect(await decision.shouldLoad(Self.version(90, "b"), at: Self.time(0), isPrimary: { true }) == false)
        #expect(await decision.shouldLoad(Self.version(91, "c"), at: Self.time(1), isPrimary: { true }) == false)
        #expect(await decision.shouldLoad(Self.version(92, "d"), at: Self.time(2), isPrimary: { true }) == true)
        decision.loaded(Self.version(92, "d"))
        #expect(await decision.shouldLoad(Self.version(93, "e"), at: Self.time(2), isPrimary: { true }) == true)
    }

    @Test("begins to wait anew when a standby that is behind is promoted")
    func waitsAnewAfterPromotion() async {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        #expect(await decision.shouldLoad(Self.version(90, "b"), at: Self.time(0), isPrimary: { false }) == false)
        #expect(await decision.shouldLoad(Self.version(90, "b"), at: Self.time(20), isPrimary: { true }) == false)
        #expect(await decision.shouldLoad(Self.version(90, "b"), at: Self.time(22), isPrimary: { true }) == true)
    }

    @Test("takes a database in which nothing was ever edited after 5 minutes, and the first edit in it as any other")
    func waitsForUnedited() async {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        let empty = Self.version(0, "b")
        #expect(await decision.shouldLoad(empty, at: Self.time(0), isPrimary: { true }) == false)
        #expect(decision.takesUnedited(empty) == Self.time(300))
        #expect(await decision.shouldLoad(empty, at: Self.time(299), isPrimary: { true }) == false)
        var other = decision
        #expect(await other.shouldLoad(empty, at: Self.time(300), isPrimary: { true }) == true)
        #expect(await decision.shouldLoad(Self.version(1, "c"), at: Self.time(299), isPrimary: { true }) == true)
    }

    @Test("waits for nothing where nothing answers, and for a lower revision where a policy of the disk does")
    func comparesWithTheDisk() async {
        var decision = ReloadDecision()
        #expect(await decision.shouldLoad(Self.version(0, "b"), at: Self.time(0), isPrimary: { true }) == true)
        #expect(decision.takesUnedited(Self.version(0, "b")) == nil)
        let kept = Self.version(7, "a")
        for (version, seconds) in [(Self.version(0, "b"), 300), (Self.version(6, "c"), 2)] as [(PolicyVersion, Int64)] {
            var decision = ReloadDecision()
            for time in [0, seconds - 1, seconds] {
                let isLoaded = await decision.shouldLoad(
                    version,
                    inPlaceOf: kept,
                    at: Self.time(time),
                    isPrimary: { true }
                )
                #expect(isLoaded == (time == seconds))
            }
        }
        // The policy of the disk is from the database, or older.
        #expect(await decision.shouldLoad(kept, inPlaceOf: kept, at: Self.time(0), isPrimary: { true }) == true)
    }

    @Test("does not try a policy again that cannot be compiled, until it is edited")
    func doesNotRetryWhatCannotCompile() async {
        var decision = ReloadDecision()
        decision.loaded(Self.version(1, "a"))
        #expect(await decision.shouldLoad(Self.version(2, "b"), at: Self.time(0), isPrimary: { false }) == true)
        decision.rejected(Self.version(2, "b"))
        #expect(await decision.shouldLoad(Self.version(2, "b"), at: Self.time(1), isPrimary: { false }) == false)
        #expect(await decision.shouldLoad(Self.version(3, "c"), at: Self.time(2), isPrimary: { false }) == true)
    }
}
