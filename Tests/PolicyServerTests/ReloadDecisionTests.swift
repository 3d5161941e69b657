import PolicyStore
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Reload decision")
struct ReloadDecisionTests {
    private static func time(_ seconds: Int64) -> Timestamp { Timestamp(microsecondsSince1970: seconds * 1_000_000) }

    private static func version(_ revision: Int64, _ token: String) -> PolicyVersion {
        PolicyVersion(revision: revision, token: token)
    }

    /// Plays a text: `7a at 3: load` is the version of revision 7 and token a, seen at a standby in second 3, and the
    /// verdict; `of primary` is one of a primary. What is loaded or rejected answers or not from then on.
    private static func play(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        var decision = ReloadDecision()
        for line in text.split(separator: "\n").map(String.init) {
            let words = line.split { " :".contains($0) }.map(String.init)
            let isEvent = words[0] == "loaded" || words[0] == "rejected"
            let name = words[isEvent ? 1 : 0]
            let version = version(Int64(name.dropLast()) ?? 0, String(name.suffix(1)))
            switch words[0] {
            case "loaded": decision.loaded(version)
            case "rejected": decision.rejected(version)
            default:
                let verdict = decision.verdict(
                    on: version, at: time(Int64(words[2]) ?? 0), isPrimary: words.contains("primary")
                )
                #expect((verdict == .load) == (words.last == "load"), "\(line)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test("The follower loads what it has not seen, another history too, and not what it has or cannot be compiled")
    func loadsWhatIsNew() {
        Self.play(
            """
            1a at 0: load
            loaded 1a
            1a at 1: wait
            2b at 2: load
            rejected 2b
            2b at 3: wait
            3c at 4: load
            loaded 100a
            100b at 5: load
            """
        )
    }

    @Test(
        "The follower takes a lower revision of a standby after 30 seconds, and begins to wait anew when that moves on, catches up or is promoted"
    )
    func waitsForLowerRevisions() {
        let begin = "loaded 100a\n90b at 0: wait\n"
        Self.play(begin + "90b at 29: wait\n90b at 30: load")
        Self.play(begin + "95c at 29: wait\n95c at 31: wait\n100a at 40: wait\n95c at 60: wait")
        Self.play(begin + "90b at 20 of primary: wait\n90b at 22 of primary: load")
    }

    @Test("The follower takes lower revisions of a primary after 2 seconds, and those of edits made meanwhile")
    func believesPrimary() {
        Self.play(
            """
            loaded 100a
            90b at 0 of primary: wait
            91c at 1 of primary: wait
            92d at 2 of primary: load
            loaded 92d
            93e at 2 of primary: load
            """
        )
    }

    @Test(
        "The follower takes a database in which nothing was ever edited after 5 minutes, and the first edit in it as any other"
    )
    func waitsForUnedited() {
        let begin = "loaded 100a\n0b at 0 of primary: wait\n0b at 299 of primary: wait\n"
        Self.play(begin + "0b at 300 of primary: load")
        Self.play(begin + "1c at 299 of primary: load")
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        _ = decision.verdict(on: Self.version(0, "b"), at: Self.time(0), isPrimary: true)
        #expect(decision.takesUnedited(Self.version(0, "b")) == Self.time(300))
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
}
