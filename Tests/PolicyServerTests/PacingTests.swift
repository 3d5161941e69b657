import Testing

@testable import PolicyServer

@Suite("Pacing")
struct PacingTests {
    @Test("The timeout is four times the last answer, and doubles with each that does not come, within its bounds")
    func followsAnswers() {
        var timeout = AdaptiveTimeout()
        #expect(timeout.limit == .seconds(1))
        for (answer, limit) in [(1, 1_000), (600, 2_400), (5_000, 10_000), (1, 1_000)] {
            timeout.answered(after: .milliseconds(answer))
            #expect(timeout.limit == .milliseconds(limit))
        }
        for limit in [2, 4, 8, 10, 10] {
            timeout.ranOut()
            #expect(timeout.limit == .seconds(limit))
        }
    }

    @Test("The delay doubles up to the bound, within half and the whole of each step, and begins anew after a success")
    func backsOff() {
        var generator = SystemRandomNumberGenerator()
        var backoff = ReconnectBackoff()
        for _ in 0..<100 {
            var step = ReconnectBackoff.initial
            for _ in 0..<10 {
                let delay = backoff.nextDelay(using: &generator)
                #expect(delay >= step / 2 && delay <= step)
                step = min(step * 2, ReconnectBackoff.maximum)
            }
            backoff.reset()
        }
    }
}
