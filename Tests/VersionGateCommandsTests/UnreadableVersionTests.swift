import TestDatabase
import Testing

@Suite("Surprising versions", .migratedDatabase)
struct UnreadableVersionTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private func prepare() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle) VALUES ('a'), ('b');
            INSERT INTO rules (key, bundle, title, text, versions) VALUES ('old', 'a', 'T', 'X', '<10.17');
            """
        )
        try await TestDatabase.current.addCounts(
            """
            (now(), 'a', 'ios', '10.16', 80, 0, 0), (now(), 'a', 'ios', NULL, 10, 0, 0),
            (now(), 'a', 'ios', '2.1.3.alpha.42', 7, 0, 0), (now(), 'a', 'ios', '?', 3, 0, 0),
            (now(), 'b', 'ios', '1', 900, 0, 0)
            """
        )
    }

    private static let warning = """
        Warning: 10 checks of a (10.0 %) with a version that cannot be read: 2.1.3.alpha.42, one that cannot be shown. \
        No rule with versions or a target reaches them.
        """

    @Test(
        "Versions that surprise are told of by stats, impact and release add, and by none of them for an app that sends none"
    )
    func told() async throws {
        try await prepare()
        let stats = try await versiongate.run("stats a")
        #expect(stats.output.contains(Self.warning), "\(stats.output)")
        let impact = try await versiongate.run("impact old")
        #expect(impact.output.contains(Self.warning), "\(impact.output)")
        let added = try await versiongate.run("release add A 10.17 --platform ios")
        #expect(added.status == 0)
        #expect(
            added.errors.contains("of A (10.0 %) with a version that cannot be read: 2.1.3.alpha.42"),
            "\(added.errors)"
        )
        for command in ["stats b", "release add b 1 --platform ios"] {
            let result = try await versiongate.run(command)
            #expect(result.status == 0)
            #expect(!(result.output + result.errors).contains("cannot be read"), "\(result)")
        }
    }

    @Test("Versions that are read as pre-releases of a release are told of by stats")
    func preReleases() async throws {
        try await prepare()
        try await TestDatabase.current.edit(
            "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'android', '0.1.4', now())"
        )
        try await TestDatabase.current.addCounts(
            """
            (now(), 'a', 'android', '0.1.4-QA-DEBUG', 6, 6, 0), (now(), 'a', 'android', '0.1.4', 50, 0, 0),
            (now(), 'a', 'android', '0.2-beta', 4, 0, 0)
            """
        )
        let stats = try await versiongate.run("stats a").output
        #expect(
            stats.filter { !$0.isNewline }.contains("6 checks of version 0.1.4-QA-DEBUG, a pre-release: it sorts"),
            "\(stats)"
        )
        #expect(!stats.contains("0.2-beta, a pre-release"))
        let json = try await versiongate.run("stats a --format json").output.filter { !$0.isWhitespace }
        #expect(
            json.contains(#""pre_releases":[{"version":"0.1.4-QA-DEBUG","release":"0.1.4","checks":6}]"#),
            "\(json)"
        )
        #expect(try await versiongate.run("stats b --format json").output.contains("\"pre_releases\":[]"))
    }

    @Test("Versions that surprise are told of to programs")
    func toldAsJSON() async throws {
        try await prepare()
        let unreadable = """
            "bundle":"a","checks":10,"share":0.1,"examples":[{"version":"2.1.3.alpha.42","checks":7},{"version":"?","checks":3}]
            """
        let stats = try await versiongate.run("stats a --format json").output.filter { !$0.isWhitespace }
        #expect(stats.contains(#""unreadable":{\#(unreadable)}"#), "\(stats)")
        let impact = try await versiongate.run("impact old --format json").output.filter { !$0.isWhitespace }
        #expect(impact.contains(#""unreadable_versions":[{\#(unreadable)}]"#), "\(impact)")
        #expect(try await versiongate.run("stats b --format json").output.contains("\"unreadable\":null"))
    }

    @Test(
        "Versions that surprise with digits right behind letters after a hyphen are warned of, in releases, ranges and targets"
    )
    func textOrder() async throws {
        try await prepare()
        for (command, place) in [
            ("release add a 2.0-beta10 --platform ios", "releases.version: in \"2.0-beta10\""),
            ("rule add r --bundle a --title T --text X --versions <2.0-rc1", "rules.versions: in \"<2.0-rc1\""),
            ("rule add t --bundle a --title T --text X --target 2.0-rc1", "rules.target: in \"2.0-rc1\""),
        ] {
            let result = try await versiongate.run(command)
            #expect(result.status == 0, "\(result.errors)")
            #expect(
                result.errors.contains("Warning: \(place) a number stands right behind letters"),
                "\(result.errors)"
            )
        }
        for command in [
            "release add a 2.0-beta.10 --platform ios", "release add a 2.0b11 --platform ios",
            "rule edit r --title U", "rule add s --bundle a --title T --text X --versions 1.2rc1",
        ] {
            let result = try await versiongate.run(command)
            #expect(result.status == 0, "\(result.errors)")
            #expect(!result.errors.contains("behind letters"), "\(command): \(result.errors)")
        }
    }
}
