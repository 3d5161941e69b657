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
    func loadsWhatIsNew() {
        var decision = ReloadDecision()
        #expect(decision.shouldLoad(Self.version(1, "a"), at: Self.time(0)) == true)
        decision.loaded(Self.version(1, "a"))
        #expect(decision.shouldLoad(Self.version(1, "a"), at: Self.time(1)) == false)
        #expect(decision.shouldLoad(Self.version(2, "b"), at: Self.time(2)) == true)
    }

    @Test("loads another history that stands at the same revision")
    func loadsAnotherHistory() {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        #expect(decision.shouldLoad(Self.version(100, "b"), at: Self.time(0)) == true)
    }

    @Test("takes a lower revision only after it stood for 30 seconds")
    func waitsForLowerRevisions() {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        #expect(decision.shouldLoad(Self.version(90, "b"), at: Self.time(0)) == false)
        #expect(decision.shouldLoad(Self.version(90, "b"), at: Self.time(29)) == false)
        #expect(decision.shouldLoad(Self.version(90, "b"), at: Self.time(30)) == true)
    }

    @Test("begins to wait anew when a lagging standby moves on or catches up")
    func waitsAnew() {
        var decision = ReloadDecision()
        decision.loaded(Self.version(100, "a"))
        #expect(decision.shouldLoad(Self.version(90, "b"), at: Self.time(0)) == false)
        #expect(decision.shouldLoad(Self.version(95, "c"), at: Self.time(29)) == false)
        #expect(decision.shouldLoad(Self.version(95, "c"), at: Self.time(31)) == false)
        #expect(decision.shouldLoad(Self.version(100, "a"), at: Self.time(40)) == false)
        #expect(decision.shouldLoad(Self.version(95, "c"), at: Self.time(60)) == false)
    }

    @Test("does not try a policy again that cannot be compiled, until it is edited")
    func doesNotRetryWhatCannotCompile() {
        var decision = ReloadDecision()
        decision.loaded(Self.version(1, "a"))
        #expect(decision.shouldLoad(Self.version(2, "b"), at: Self.time(0)) == true)
        decision.rejected(Self.version(2, "b"))
        #expect(decision.shouldLoad(Self.version(2, "b"), at: Self.time(1)) == false)
        #expect(decision.shouldLoad(Self.version(3, "c"), at: Self.time(2)) == true)
    }
}
