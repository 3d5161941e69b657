import PolicyStore
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Reload decision")
struct ReloadDecisionTests {
    private static func time(_ seconds: Int64) -> Timestamp {
        Timestamp(microsecondsSince1970: seconds * 1_000_000)
    }

    private static func version(_ revision: Int64, _ token: String) -> PolicyVersion {
        PolicyVersion(revision: revision, token: token)
    }

    @Test("The follower loads what it has not seen, and not what it has")
    func loadsWhatIsNew() {
        var decision = ReloadDecision()
        #expect(decision.verdict(on: Self.version(1, "a"), at: Self.time(0), isPrimary: false) == .load)
        decision.loaded(Self.version(1, "a"))
        #expect(decision.verdict(on: Self.version(1, "a"), at: Self.time(1), isPrimary: false) != .load)
        #expect(decision.verdict(on: Self.version(2, "b"), at: Self.time(2), isPrimary: false) == .load)
    }

    @Test("The follower loads another history that stands at the same revision")
    func loadsAnotherHistory() {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        #expect(decision.verdict(on: Self.version(100, "b"), at: Self.time(0), isPrimary: false) == .load)
    }

    @Test("The follower takes a lower revision of a standby only after it stood for 30 seconds")
    func waitsForLowerRevisions() {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        #expect(decision.verdict(on: Self.version(90, "b"), at: Self.time(0), isPrimary: false) != .load)
        #expect(decision.verdict(on: Self.version(90, "b"), at: Self.time(29), isPrimary: false) != .load)
        #expect(decision.verdict(on: Self.version(90, "b"), at: Self.time(30), isPrimary: false) == .load)
    }

    @Test("The follower begins to wait anew when a lagging standby moves on or catches up")
    func waitsAnew() {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        #expect(decision.verdict(on: Self.version(90, "b"), at: Self.time(0), isPrimary: false) != .load)
        #expect(decision.verdict(on: Self.version(95, "c"), at: Self.time(29), isPrimary: false) != .load)
        #expect(decision.verdict(on: Self.version(95, "c"), at: Self.time(31), isPrimary: false) != .load)
        #expect(decision.verdict(on: Self.version(100, "a"), at: Self.time(40), isPrimary: false) != .load)
        #expect(decision.verdict(on: Self.version(95, "c"), at: Self.time(60), isPrimary: false) != .load)
    }

    @Test("The follower takes lower revisions of a primary after 2 seconds, and those of edits made meanwhile")
    func believesPrimary() {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        #expect(decision.verdict(on: Self.version(90, "b"), at: Self.time(0), isPrimary: true) != .load)
        #expect(decision.verdict(on: Self.version(91, "c"), at: Self.time(1), isPrimary: true) != .load)
        #expect(decision.verdict(on: Self.version(92, "d"), at: Self.time(2), isPrimary: true) == .load)
        decision.loaded(Self.version(92, "d"))
        #expect(decision.verdict(on: Self.version(93, "e"), at: Self.time(2), isPrimary: true) == .load)
    }

    @Test("The follower begins to wait anew when a standby that is behind is promoted")
    func waitsAnewAfterPromotion() {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        #expect(decision.verdict(on: Self.version(90, "b"), at: Self.time(0), isPrimary: false) != .load)
        #expect(decision.verdict(on: Self.version(90, "b"), at: Self.time(20), isPrimary: true) != .load)
        #expect(decision.verdict(on: Self.version(90, "b"), at: Self.time(22), isPrimary: true) == .load)
    }

    @Test(
        "The follower takes a database in which nothing was ever edited after 5 minutes, and the first edit in it as any other"
    )
    func waitsForUnedited() {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        let empty = Self.version(0, "b")
        #expect(decision.verdict(on: empty, at: Self.time(0), isPrimary: true) != .load)
        #expect(decision.takesUnedited(empty) == Self.time(300))
        #expect(decision.verdict(on: empty, at: Self.time(299), isPrimary: true) != .load)
        var other = decision
        #expect(other.verdict(on: empty, at: Self.time(300), isPrimary: true) == .load)
        #expect(decision.verdict(on: Self.version(1, "c"), at: Self.time(299), isPrimary: true) == .load)
    }

    @Test(
        "The follower waits for nothing where nothing answers, and for a lower revision where a policy of the disk does"
    )
    func comparesWithTheDisk() {
        var decision = ReloadDecision()
        #expect(decision.verdict(on: Self.version(0, "b"), at: Self.time(0), isPrimary: true) == .load)
        #expect(decision.takesUnedited(Self.version(0, "b")) == nil)
        let kept = Self.version(7, "a")
        for (version, seconds) in [(Self.version(0, "b"), 300), (Self.version(6, "c"), 2)] as [(PolicyVersion, Int64)] {
            var decision = ReloadDecision()
            for time in [0, seconds - 1, seconds] {
                let verdict = decision.verdict(on: version, inPlaceOf: kept, at: Self.time(time), isPrimary: true)
                #expect((verdict == .load) == (time == seconds))
            }
        }
        // The policy of the disk is from the database, or older.
        #expect(decision.verdict(on: kept, inPlaceOf: kept, at: Self.time(0), isPrimary: true) == .load)
    }

    @Test("The follower does not try a policy again that cannot be compiled, until it is edited")
    func doesNotRetryWhatCannotCompile() {
        var decision = ReloadDecision()
        decision.loaded(Self.version(1, "a"))
        #expect(decision.verdict(on: Self.version(2, "b"), at: Self.time(0), isPrimary: false) == .load)
        decision.rejected(Self.version(2, "b"))
        #expect(decision.verdict(on: Self.version(2, "b"), at: Self.time(1), isPrimary: false) != .load)
        #expect(decision.verdict(on: Self.version(3, "c"), at: Self.time(2), isPrimary: false) == .load)
    }

    @Test("A policy that was edited on from another may continue it; a lower one and one at the same revision do not")
    func succession() {
        let before = Self.version(7, "a")
        #expect(before.succession(of: before) == .continues)
        #expect(before.succession(of: Self.version(8, "b")) == .historyKnows)
        #expect(before.succession(of: Self.version(7, "b")) == .breaks)
        #expect(before.succession(of: Self.version(6, "b")) == .breaks)
        // Nothing was ever edited, so nothing is lost.
        #expect(Self.version(0, "a").succession(of: Self.version(0, "b")) == .continues)
        #expect(Self.version(0, "a").succession(of: Self.version(8, "b")) == .continues)
    }
}
