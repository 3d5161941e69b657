import Foundation
import TestRandom
import TestSystem
import Testing

@Suite("Benchmark script", .whole)
struct BenchmarkScriptTests {
    @Test(
        "script/bench says what is wrong with its arguments before it starts anything",
        arguments: [
            ("speed", "there is no measurement 'speed'; see script/bench --help"),
            ("--fast", "unknown argument '--fast'; see script/bench --help"),
            ("--rounds", "--rounds takes a whole number from 1 to 50, not ''"),
            ("--rounds 51", "--rounds takes a whole number from 1 to 50, not '51'"),
            ("--seconds 0", "--seconds takes a whole number from 1 to 60, not '0'"),
            ("--connections 64,,512", "--connections takes a whole number from 1 to 4096, not ''"),
            ("--connections 64,4097", "--connections takes a whole number from 1 to 4096, not '4097'"),
            (
                "profile --connections 1,64",
                "--connections with a list is not for profile, but for throughput latency feeds"
            ),
            ("latency --rate 1e4", "--rate takes a whole number from 1 to 200000, not '1e4'"),
            ("--rate 100", "--rate is not for throughput, but for latency"),
            ("latency --close", "--close is not for latency, but for throughput profile"),
            ("handshakes --tls", "--tls is not for handshakes, but for throughput latency profile"),
            (
                "loops --servers nginx",
                "--servers is not for loops, but for throughput latency feeds handshakes profile"
            ),
            ("--servers", "--servers takes names of servers, separated by commas"),
            ("--servers nginx,apache", "--servers takes versiongate nginx go node here, not 'apache'"),
            ("--tls --servers go", "--servers takes versiongate nginx here, not 'go'"),
            ("--servers go,go", "--servers names go twice"),
        ]
    )
    func refusesArguments(words: String, fault: String) async throws {
        let script = RepositoryFile.url("script/bench").path
        let result = try await BuiltBinary(environment: [:]).shell("'\(script)' \(words)")
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors == "script/bench: \(fault)\n")
    }
}
