import Foundation
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Metrics and logs", .whole, .migratedDatabase)
struct MetricsCommandTests {
    private let binary = BuiltBinary.server()

    @Test("Metrics tell what was asked, what answers and whether the database is there")
    func tellWhatHappens() async throws {
        try await ServingBinary.run(binary) { server in
            _ = try await server.check(UpdateRule.client)
            _ = try await server.check(UpdateRule.client)
            _ = try await server.check(#"{"bundle":"a","version":"2.1.3.alpha.42"}"#)
            let metrics = try await server.management("/metrics")
            #expect(metrics.status == 200)
            let series = [
                #"http_server_request_duration_seconds_count{http_request_method="POST","#
                    + #"http_response_status_code="200",http_route="/v1/check"} 3"#,
                "versiongate_policy_revision 0", #"versiongate_policy_source{source="database"} 1"#,
                "versiongate_database_up 1", "versiongate_checks_counted_total 3",
                "versiongate_checks_unreadable_version_total 1",
                "versiongate_policy_reload_duration_seconds_count 1", "versiongate_policy_reload_failures_total 0",
            ]
            for line in series { #expect(metrics.body.contains(line + "\n"), "\(line) in \(metrics.body)") }
        }
    }

    @Test("Metrics are what promtool accepts", .enabled(if: Promtool.isExpected, "promtool is not on this machine"))
    func areAccepted() async throws {
        try await ServingBinary.run(binary) { server in
            _ = try await server.check(UpdateRule.client)
            try await Promtool.expectSuccess(["check", "metrics"], input: server.management("/metrics").body)
        }
    }

    @Test("Metrics tell what checks were answered and by which rules, also by one that is called other")
    func tellAnswers() async throws {
        let database = TestDatabase.current
        try await database.edit(
            """
            SET versiongate.consent = 'other';
            INSERT INTO apps (bundle) VALUES ('com.example.doto');
            INSERT INTO rules (key, bundle, versions, title, text, enabled, lockout, lockout_without_update, ends_at)
            VALUES ('other', 'com.example.doto', '<1.1', 't', 'x', true, true, true, '2999-01-01Z');
            INSERT INTO rules (key, bundle, versions, title, text, enabled)
            VALUES ('update', 'com.example.doto', '<1.2', 't', 'x', true);
            """
        )
        try await ServingBinary.run(binary, arguments: ["--count-interval", "1"]) { server in
            for version in ["1.0", "1.0", "1.1", "1.2", "1.3", "1.4"] {
                _ = try await server.check(#"{"bundle":"com.example.doto","version":"\#(version)"}"#)
            }
            var metrics = ""
            try await Poll.until("all checks among the answers") {
                metrics = try await server.management("/metrics").body
                return metrics.contains("versiongate_checks_answered_total{outcome=\"nothing\"} 3\n")
            }
            let series = [
                #"versiongate_checks_answered_total{outcome="message"} 1"#,
                #"versiongate_checks_answered_total{outcome="lockout"} 2"#,
                #"versiongate_rule_messages_total{rule="other"} 2"#,
                #"versiongate_rule_messages_total{rule="update"} 3"#,
                #"versiongate_rule_messages_total{rule="_other"} 0"#,
                #"versiongate_rule_lockouts_total{rule="other"} 2"#,
                #"versiongate_rule_lockouts_total{rule="_other"} 0"#,
            ]
            for line in series { #expect(metrics.contains(line + "\n"), "\(line) in \(metrics)") }
            #expect(!metrics.contains(#"versiongate_rule_lockouts_total{rule="update"}"#))
        }
    }

    @Test("Metrics say nothing of answers where checks are not counted")
    func tellNothingUncounted() async throws {
        try await ServingBinary.run(binary, arguments: ["--count-interval", "0"]) { server in
            _ = try await server.check(UpdateRule.client)
            let metrics = try await server.management("/metrics").body
            #expect(metrics.contains("versiongate_policy_reload_fault 0\n"))
            for family in ["versiongate_checks_", "versiongate_counts_", "versiongate_rule_"] {
                #expect(!metrics.contains(family), "\(family)")
            }
        }
    }

    @Test("Logs are lines of JSON where that is wanted")
    func logsJSON() async throws {
        struct Line: Decodable {
            let time: String
            let level: String
            let message: String
            let metadata: [String: String]
        }
        let ending = try await ServingBinary.run(binary, arguments: ["--log-format", "json"]) { server in
            _ = try await server.check(UpdateRule.client)
        }
        let lines = try ending.errors.split(separator: "\n").map { line in
            try JSONDecoder().decode(Line.self, from: Data(line.utf8))
        }
        let loaded = try #require(lines.first { $0.message == "Loaded the policy" })
        #expect(loaded.level == "notice")
        #expect(loaded.metadata["policy.revision"] == "0")
        #expect(loaded.time.hasSuffix("Z"))
        #expect(!ending.errors.contains("com.example.doto"))
    }
}
