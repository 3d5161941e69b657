import Testing

@testable import PolicyServer

@Suite("Adaptive timeout")
struct AdaptiveTimeoutTests {
    @Test("The timeout is four times the last answer, within its bounds")
    func followsAnswers() {
        var timeout = AdaptiveTimeout()
        #expect(timeout.limit == .seconds(1))
        timeout.answered(after: .milliseconds(1))
        #expect(timeout.limit == .seconds(1))
        timeout.answered(after: .milliseconds(600))
        #expect(timeout.limit == .milliseconds(2_400))
        timeout.answered(after: .seconds(5))
        #expect(timeout.limit == .seconds(10))
        timeout.answered(after: .milliseconds(1))
        #expect(timeout.limit == .seconds(1))
    }

    @Test(
        "The timeout doubles with each answer that does not come, so that any database within the bound is waited for"
    )
    func doubles() {
        var timeout = AdaptiveTimeout()
        for expected in [2, 4, 8, 10, 10] {
            timeout.ranOut()
            #expect(timeout.limit == .seconds(expected))
        }
    }
}
