import CheckListener
import TestChecks
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Metrics")
struct MetricsTests {
    private func example(_ format: MetricsText.Format) -> String {
        var text = MetricsText(format)
        var histogram = DurationHistogram()
        histogram.record(5_000)
        histogram.record(5_001)
        histogram.record(2_000_000_000)
        text.family("a_seconds", .histogram, "How \"long\" \\ it\ntook.", unit: "seconds")
        text.histogram("a_seconds", histogram, [("route", "/v1/check")])
        text.family("b", .counter, "How often.")
        text.counter("b", 3, [("why", "a \"b\" \\\n")])
        text.family("c", .gauge, "How many.")
        text.gauge("c", 1.5)
        return text.document
    }

    @Test("Metrics are written as Prometheus reads them")
    func prometheus() {
        // The other bounds between the two are like their neighbours.
        let lines = example(.prometheus).split(separator: "\n")
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

    @Test("Metrics are written as OpenMetrics has them for those who ask for it")
    func openMetrics() {
        let text = example(MetricsText.Format(accept: "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"))
        #expect(text.contains("# TYPE b counter\nb_total{"))
        #expect(text.contains("# UNIT a_seconds seconds\n"))
        #expect(text.hasSuffix("\n# EOF\n"))
        #expect(!example(MetricsText.Format(accept: "text/plain")).contains("EOF"))
    }

    @Test("A failed load is a fault until the policy that answers is the newest again")
    func tellsReloadFaults() {
        let policy = LivePolicy()
        let metrics = ServerMetrics(
            policy: policy, listener: ListenerStatistics(), counting: nil, clock: { CountedPolicy.noon }
        )
        func fault() -> Substring? {
            metrics.document(.prometheus).split(separator: "\n").first {
                $0.hasPrefix("versiongate_policy_reload_fault ")
            }
        }
        #expect(fault()?.hasSuffix(" 0") == true)
        policy.noteFailure("a rule cannot be compiled", at: CountedPolicy.noon)
        #expect(fault()?.hasSuffix(" 1") == true)
        policy.noteUpToDate()
        #expect(fault()?.hasSuffix(" 0") == true)
    }
}
