import Testing

@testable import PolicyServer

@Suite("Reconnect backoff")
struct ReconnectBackoffTests {
    @Test("The delay doubles up to the bound, within half and the whole of each step")
    func doubles() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<100 {
            var backoff = ReconnectBackoff()
            var step = ReconnectBackoff.initial
            for _ in 0..<10 {
                let delay = backoff.nextDelay(using: &generator)
                #expect(delay >= step / 2)
                #expect(delay <= step)
                step = min(step * 2, ReconnectBackoff.maximum)
            }
        }
    }

    @Test("The delay begins anew after a success")
    func resets() {
        var generator = SystemRandomNumberGenerator()
        var backoff = ReconnectBackoff()
        for _ in 0..<10 { _ = backoff.nextDelay(using: &generator) }
        backoff.reset()
        let first = backoff.nextDelay(using: &generator)
        #expect(first <= ReconnectBackoff.initial)
    }
}
