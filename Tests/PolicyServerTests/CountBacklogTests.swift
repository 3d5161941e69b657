import PolicyStore
import TestChecks
import Testing

@testable import PolicyServer

@Suite("Count backlog")
struct CountBacklogTests {
    private func batch(_ checks: Int) -> CountBatch {
        var batch = CountBatch()
        batch.checks.append(CheckCount(hour: CountedPolicy.noon, kind: nil, checks: checks, messages: 0, lockouts: 0))
        return batch
    }

    @Test("Counts that could not be written are kept for the next attempt, then dropped and counted")
    func keepsOnce() {
        var backlog = CountBacklog()
        #expect(backlog.nextBatch(adding: batch(1)).totalChecks == 1)
        #expect(backlog.attemptEnded(.notWritten, isLast: false) == 0)
        #expect(backlog.nextBatch(adding: batch(10)).totalChecks == 11)
        #expect(backlog.attemptEnded(.notWritten, isLast: false) == 1)
        #expect(backlog.nextBatch(adding: batch(100)).totalChecks == 110)
        #expect(backlog.attemptEnded(.written, isLast: false) == 0)
        #expect(backlog.nextBatch(adding: CountBatch()).isEmpty)
    }

    @Test("What may have been written is dropped at once, so that nothing is counted twice")
    func neverRepeatsWhatMayBeWritten() {
        var backlog = CountBacklog()
        _ = backlog.nextBatch(adding: batch(1))
        #expect(backlog.attemptEnded(.notWritten, isLast: false) == 0)
        _ = backlog.nextBatch(adding: batch(10))
        #expect(backlog.attemptEnded(.unknown, isLast: false) == 11)
        #expect(backlog.nextBatch(adding: CountBatch()).isEmpty)
    }

    @Test("At the last attempt everything that is not written is dropped")
    func dropsAtTheEnd() {
        var backlog = CountBacklog()
        _ = backlog.nextBatch(adding: batch(1))
        #expect(backlog.attemptEnded(.notWritten, isLast: false) == 0)
        _ = backlog.nextBatch(adding: batch(10))
        #expect(backlog.attemptEnded(.notWritten, isLast: true) == 11)
    }
}
