// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CheckListener
import Synchronization
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
        let lines = example(.prometheus).split(separator: "\n").map(String.init)
        #expect(lines[0] == #"# HELP a_seconds How \"long\" \\ it\ntook."#)
        #expect(lines[1] == "# TYPE a_seconds histogram")
        #expect(lines[2] == #"a_seconds_bucket{route="/v1/check",le="5e-06"} 1"#)
        #expect(lines[3] == #"a_seconds_bucket{route="/v1/check",le="1e-05"} 2"#)
        #expect(lines[13] == #"a_seconds_bucket{route="/v1/check",le="1.0"} 2"#)
        #expect(lines[14] == #"a_seconds_bucket{route="/v1/check",le="+Inf"} 3"#)
        #expect(lines[15] == #"a_seconds_count{route="/v1/check"} 3"#)
        #expect(lines[16] == #"a_seconds_sum{route="/v1/check"} 2.000010001"#)
        #expect(
            lines[17...].joined(separator: "\n") == #"""
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

    @Test("Rules are counted by what the judge says of them, anew where the policy or the clock changes it")
    func countsRuleStatuses() throws {
        var closed = Rule(key: "closed", bundle: "doto", versions: "<1.1", title: "Too old", text: "Text")
        (closed.enabled, closed.lockout) = (true, true)
        var message = Rule(key: "message", bundle: "doto", title: "Hello", text: "Text")
        message.enabled = true
        message.startsAt = CountedPolicy.hours(1)
        let rules = [closed, message, Rule(key: "off", title: "Hello", text: "Text")].map { rule in
            var rule = rule
            if rule.key == "off" { rule.enabled = false }
            return rule
        }
        var release = Release(id: 1, bundle: "doto", platform: "ios", version: "3.0")
        release.liveAt = CountedPolicy.hours(2)
        var rows = Policy(
            revision: 1,
            token: "1",
            apps: [App(bundle: "doto")],
            releases: [release],
            rules: rules
        )
        let policy = LivePolicy()
        let now = Mutex(CountedPolicy.noon)
        let metrics = ServerMetrics(
            policy: policy,
            listener: ListenerStatistics(),
            counting: nil,
            clock: { now.withLock { $0 } }
        )
        func counted() -> [String] {
            metrics.document(.prometheus).split(separator: "\n").map(String.init).filter {
                $0.hasPrefix("versiongate_policy_rule_status{") && !$0.hasSuffix(" 0")
            }
        }
        #expect(counted().isEmpty)
        policy.replace(with: try CompiledPolicy(rows), at: CountedPolicy.noon)
        for (hours, closedIs, messageIs) in [
            (0, "on without lockout", "scheduled"), (1, "on without lockout", "on"), (2, "on", "on"),
            (0, "on without lockout", "scheduled"),
        ] as [(Int64, String, String)] {
            now.withLock { $0 = CountedPolicy.hours(hours) }
            #expect(
                Set(counted()) == [
                    #"versiongate_policy_rule_status{lockout="true",status="\#(closedIs)"} 1"#,
                    #"versiongate_policy_rule_status{lockout="false",status="\#(messageIs)"} 1"#,
                    #"versiongate_policy_rule_status{lockout="false",status="disabled"} 1"#,
                ]
            )
        }
        rows.apps[0].paused = true
        policy.replace(with: try CompiledPolicy(rows), at: CountedPolicy.noon)
        #expect(counted().contains(#"versiongate_policy_rule_status{lockout="true",status="paused"} 1"#))
    }

    @Test("A failed load is a fault until the policy that answers is the newest again")
    func tellsReloadFaults() {
        let policy = LivePolicy()
        let metrics = ServerMetrics(
            policy: policy,
            listener: ListenerStatistics(),
            counting: nil,
            clock: { CountedPolicy.noon }
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
