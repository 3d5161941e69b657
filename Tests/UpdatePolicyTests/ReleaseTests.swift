import TestPolicies
import Testing
import UpdatePolicy

@Suite("Releases")
struct ReleaseTests {
    @Test("A release that is withdrawn before it is live is withdrawn already, and is told of as nothing to come")
    func withdrawnBeforeLive() {
        for (live, withdrawn, kinds) in [
            (TestPolicy.hours(2), TestPolicy.hours(1), []), (TestPolicy.hours(2), TestPolicy.hours(2), []),
            (TestPolicy.hours(-24), TestPolicy.noon, []),
            (TestPolicy.hours(-24), TestPolicy.hours(1), [.releaseWithdrawn]),
            (TestPolicy.hours(1), TestPolicy.hours(2), [.releaseLive, .releaseWithdrawn]),
        ] as [(Timestamp, Timestamp, [PolicyEvent.Kind])] {
            let release = TestPolicy.release("1.2") { ($0.liveAt, $0.withdrawnAt) = (live, withdrawn) }
            let events = Policy(revision: 1, token: "", releases: [release]).eventsOfNextDay(at: TestPolicy.noon)
            #expect(events.map(\.kind) == kinds, "\(live), \(withdrawn)")
        }
    }
}
