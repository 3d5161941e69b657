import Foundation
import TestDatabase
import Testing

/// `release add --if-absent`, which a pipeline may run twice.
@Suite("Releases added if absent", .migratedDatabase)
struct ReleaseAddCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private func rows() async throws -> String {
        try await TestDatabase.current.psql(
            """
            SELECT string_agg(concat_ws(' ', platform, version, build, array_to_string(regions, '+')), ', ' ORDER BY id)
            FROM releases
            """
        ).output.trimmingCharacters(in: .newlines)
    }

    @Test("The same release again changes nothing, in whatever spelling, and says so")
    func sameAgain() async throws {
        try await TestDatabase.current.edit("INSERT INTO apps (bundle) VALUES ('com.example.doto')")
        let options = "--build 42 --min-os 15 --region JP --region US --live-at 2026-01-02T03:04:05Z --note once"
        let first = try await versiongate.run("release add com.example.doto 1.2 --platform ios --if-absent \(options)")
        #expect(first.status == 0 && first.output.contains("Added release"), "\(first.errors)")
        for again in [
            "com.example.doto 1.2 --platform ios \(options)", "com.example.doto 1.2 --platform ios",
            "COM.example.DOTO v1.2.0 --platform iPadOS --build 042 --min-os 15.0 --region US --region JP",
            "com.example.doto 1.2 --platform ios --live-at 2026-01-02T04:04:05+01:00",
        ] {
            let result = try await versiongate.run("release add \(again) --if-absent")
            #expect(result.status == 0 && result.errors.isEmpty, "\(again): \(result.errors)")
            #expect(result.output.hasPrefix("Nothing changed on "), "\(again): \(result.output)")
            #expect(result.output.contains("the policy was like that already"), "\(again): \(result.output)")
        }
        #expect(try await rows() == "ios 1.2 42 JP+US")

        let both = try await versiongate.run(
            "release add com.example.doto 1.2 --platform ios --platform android --build 42 --if-absent"
        )
        #expect(both.status == 0, "\(both.errors)")
        #expect(try await rows() == "ios 1.2 42 JP+US, android 1.2 42")
    }

    @Test("Another value of a given column is named with what is recorded, and nothing changes")
    func otherValues() async throws {
        try await TestDatabase.current.edit(
            "INSERT INTO apps (bundle) VALUES ('a')",
            """
            INSERT INTO releases (bundle, platform, version, min_os, regions, live_at)
            VALUES ('a', 'ios', '1.2', '15', '{JP,US}', '2026-01-01Z')
            """
        )
        for (options, words) in [
            ("--min-os 16", "min_os is 15, not 16"), ("--build 42", "build is (none), not 42"),
            ("--region JP", "regions is JP, US, not JP"), ("--staged", "staged is false, not true"),
            ("--note x", "note is (none), not x"), ("--live-at 2026-01-02T00:00:00Z", "live_at is 2026-01-01"),
            ("--note x --min-os 16", "min_os is 15, not 16, note is (none), not x"),
        ] {
            for approval in ["", " --dry-run"] {
                let result = try await versiongate.run(
                    "release add a 1.2 --platform ios --if-absent \(options)\(approval)"
                )
                #expect(result.status == 1, "\(options): \(result.output)")
                #expect(
                    result.errors.contains("1.2 of a on ios is recorded, and \(words)")
                        && result.errors.contains("versiongate release edit a 1.2 --platform ios"),
                    "\(options): \(result.errors)"
                )
            }
        }
        #expect(try await rows() == "ios 1.2 JP+US")
    }

    @Test("Another build, and other countries, are another release; a withdrawn one stays so, with a warning")
    func otherReleases() async throws {
        try await TestDatabase.current.edit(
            "INSERT INTO apps (bundle) VALUES ('a')",
            """
            INSERT INTO releases (bundle, platform, version, build, regions, live_at, withdrawn_at)
            VALUES ('a', 'ios', '1.2', '41', '{JP}', '2026-01-01Z', '2026-01-02Z')
            """
        )
        for (options, warns) in [
            ("1.2 --build 42 --region JP", false), ("1.2 --build 41 --region US", false), ("1.2 --build 41", true),
        ] {
            let result = try await versiongate.run("release add a \(options) --platform ios --if-absent --yes")
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.contains("Added release") != warns, "\(options): \(result.output)")
        }
        #expect(try await rows() == "ios 1.2 41 JP, ios 1.2 42 JP, ios 1.2 41 US")

        try await TestDatabase.current.edit("UPDATE releases SET withdrawn_at = now() WHERE withdrawn_at IS NULL")
        let withdrawn = try await versiongate.run("release add a 1.2 --platform ios --if-absent")
        #expect(withdrawn.status == 0)
        #expect(
            withdrawn.errors == "Warning: 1.2 of a on ios is withdrawn; --if-absent leaves it so\n",
            "\(withdrawn.errors)"
        )
    }

    @Test("Of runs at the same time exactly one adds the release, and all end well")
    func concurrentRuns() async throws {
        try await TestDatabase.current.edit("INSERT INTO apps (bundle) VALUES ('a')")
        let versiongate = versiongate
        let outputs = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let result = try await versiongate.run("release add a 1.2 --platform ios --build 42 --if-absent")
                    #expect(result.status == 0, "\(result.errors)")
                    return result.output
                }
            }
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(outputs.count { $0.contains("Added release") } == 1, "\(outputs)")
        #expect(outputs.count { $0.contains("the policy was like that already") } == 5, "\(outputs)")
        #expect(try await rows() == "ios 1.2 42")
    }
}
