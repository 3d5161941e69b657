import CheckListener
import TestChecks
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Metrics")
struct MetricsTests {
    @Test("Metrics are written as Prometheus reads them")
    func prometheus() {
        var metrics = MetricsText()
        var histogram = DurationHistogram()
        histogram.record(5_000)
        histogram.record(5_001)
        histogram.record(2_000_000_000)
        metrics.family("a_seconds", .histogram, "How \"long\" \\ it\ntook.")
        metrics.samples(histogram, ["route": "/v1/check"])
        metrics.family("b", .counter, "How often.")
        metrics.sample(3, ["why": "a \"b\" \\\n"])
        metrics.family("c", .gauge, "How many.")
        metrics.sample(1.5)
        // The other bounds between the two are like their neighbours.
        let lines = metrics.document.split(separator: "\n")
        let text = (lines[..<4] + lines[13...]).joined(separator: "\n")
        #expect(
            text == #"""
                # HELP a_seconds How \"long\" \\ it\ntook.
                # TYPE a_seconds histogram
                a_seconds_bucket{route="/v1/check",le="5e-06"} 1
                a_seconds_bucket{route="/v1/check",le="1e-05"} 2
                a_seconds_bucket{route="/v1/check",le="1.0"} 2
                a_seconds_bucket{route="/v1/check",le="+Inf"} 3
                a_seconds_count{route="/v1/check"} 3
                a_seconds_sum{route="/v1/check"} 2.000010001
                # HELP b_total How often.
                # TYPE b_total counter
                b_total{why="a \"b\" \\\n"} 3
                # HELP c How many.
                # TYPE c gauge
                c 1.5
                """#
        )
    }

    @Test("Metrics have names of their own")
    func names() {
        #expect(Set(Metric.all.map(\.name)).count == Metric.all.count)
    }

    @Test("A failed load is a fault until the policy that answers is the newest again")
    func tellsReloadFaults() {
        let metrics = ServerMetrics(state: .test())
        let failure = PolicyStatus.Failure(reason: "a rule cannot be compiled", at: CountedPolicy.noon)
        for (failure, value) in [(nil, 0), (failure, 1), (nil, 0)] as [(PolicyStatus.Failure?, Int)] {
            metrics.state.policy.update { $0.failure = failure }
            #expect(metrics.document.contains("\nversiongate_policy_reload_fault \(value)\n"))
        }
    }
}
