import Testing

@testable import CheckListener

@Suite("Duration histogram")
struct DurationHistogramTests {
    @Test("Histograms of durations are sums of those of all event loops")
    func histogramsAdd() {
        var generator = SystemRandomNumberGenerator()
        var parts = [DurationHistogram](repeating: DurationHistogram(), count: 3)
        var whole = DurationHistogram()
        for _ in 0..<1_000 {
            let duration = UInt64.random(in: 0...(1 << UInt64.random(in: 1...33, using: &generator)), using: &generator)
            parts[Int.random(in: 0..<3, using: &generator)].record(duration)
            whole.record(duration)
        }
        var sum = DurationHistogram()
        for part in parts { sum.add(part) }
        #expect(sum == whole)
        #expect(whole.count == 1_000)
        for (index, bound) in DurationHistogram.bounds.enumerated() where index > 0 {
            #expect(bound > DurationHistogram.bounds[index - 1])
        }
    }
}
