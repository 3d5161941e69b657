// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Subprocess
import SystemPackage
import TestDatabase
import TestSystem
import Testing

@Suite("Metrics and logs", .migratedDatabase)
struct MetricsCommandTests {
    private static let check = #"{"bundle":"com.example.doto","version":"1.1"}"#

    private var binary: BuiltBinary {
        BuiltBinary(environment: ["DATABASE_URL": TestDatabase.current.url(user: "versiongate_server")])
    }

    /// The program of the Prometheus project that reads metrics as its server does, if this machine has it.
    private static var promtool: FilePath? {
        let fetched = RepositoryFile.url(".build/tools/promtool").path
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return ([fetched] + folders.map { "\($0)/promtool" })
            .first { FileManager.default.isExecutableFile(atPath: $0) }
            .map { FilePath($0) }
    }

    @Test("Metrics tell what was asked, what answers and whether the database is there")
    func tellWhatHappens() async throws {
        try await ServingBinary.run(binary) { server in
            _ = try await server.check(Self.check)
            _ = try await server.check(Self.check)
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

    @Test("Metrics are what promtool accepts", .enabled(if: promtool != nil, "promtool is not on this machine"))
    func areAccepted() async throws {
        let promtool = try #require(Self.promtool)
        try await ServingBinary.run(binary) { server in
            _ = try await server.check(Self.check)
            let text = try await server.management("/metrics").body
            let result = try await run(
                .path(promtool),
                arguments: ["check", "metrics"],
                input: .string(text),
                output: .string(limit: 1 << 16),
                error: .string(limit: 1 << 16)
            )
            #expect(result.terminationStatus.isSuccess, "\(result.standardError)\n\(text)")
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
            _ = try await server.check(Self.check)
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

    @Test(
        "Formats and levels that do not exist are refused",
        arguments: [
            ("--log-format yaml", "yaml"),
            ("--log-level loud", "--log-level (VERSIONGATE_LOG_LEVEL) is \"loud\"; it must be one of trace"),
        ]
    )
    func refusesUnknownFormats(arguments: String, fault: String) async throws {
        let result = try await binary.run("serve " + arguments)
        #expect(result.status == 64)
        #expect(result.errors.contains(fault), "\(result.errors)")
    }
}
