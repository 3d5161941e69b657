import TestDatabase
import Testing

@Suite("Block", .migratedDatabase, .timeLimit(.minutes(20)))
struct BlockCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private static let app = "INSERT INTO apps (bundle, name) VALUES ('com.example.doto', 'Doto')"
    private static let links = """
        INSERT INTO store_links VALUES ('com.example.doto', 'ios', 'https://apps.apple.com/app/id1'),
            ('com.example.doto', 'android', 'market://details?id=com.example.doto')
        """
    private static let release = """
        INSERT INTO releases (bundle, platform, version, live_at)
        VALUES ('com.example.doto', 'ios', '1.2', now() - interval '1 day')
        """
    /// 60 % of the checks are from 1.1 on iOS, 30 % from 1.2 there, 10 % from 1.1 on Android.
    private static let counts = """
        (now(), 'com.example.doto', 'ios', '1.1', 600, 0, 0), (now(), 'com.example.doto', 'ios', '1.2', 300, 0, 0),
        (now(), 'com.example.doto', 'android', '1.1', 100, 0, 0)
        """

    private func prepare(_ scripts: String..., counts: String? = counts) async throws {
        try await TestDatabase.current.edit(scripts)
        if let counts { try await TestDatabase.current.addCounts(counts) }
    }

    private func block(_ options: String = "") async throws -> BuiltBinary.Result {
        try await versiongate.run("block com.example.doto 1.1 \(options)")
    }

    private func rule(_ key: String) async throws -> String {
        try await TestDatabase.current.psql(
            """
            SELECT concat_ws('|', versions, builds, platforms::text, link, lockout, lockout_without_update, enabled, title)
            FROM rules WHERE key = '\(key)'
            """
        ).output
    }

    @Test("A block is a rule for the version, made after its share was shown and approved, with the way back")
    func isMade() async throws {
        try await prepare(Self.app, Self.links, Self.release)
        let revision = try await TestDatabase.current.revision()
        let refused = try await block()
        #expect(refused.status == 1)
        #expect(
            refused.output.hasPrefix(
                "70.0 % of the 1,000 checks of com.example.doto in the last 7 days came from 1.1.\n"
            )
        )
        #expect(refused.errors.contains("repeat it with --yes if it is meant"), "\(refused.errors)")
        let rehearsed = try await block("--platform iOS --dry-run")
        #expect(rehearsed.status == 0 && rehearsed.output.hasPrefix("60.0 % of the 1,000 checks"), "\(rehearsed)")
        #expect(rehearsed.output.contains(" came from 1.1 on ios.\n"), "\(rehearsed.output)")
        #expect(try await TestDatabase.current.revision() == revision)
        let made = try await block("--yes --why bad")
        #expect(made.status == 0, "\(made.errors)")
        #expect(
            made.output.contains("This is change \(revision + 1). To take it back: versiongate undo \(revision + 1)\n")
        )
        #expect(
            made.output.hasSuffix(
                """
                block-1.1 is on. What such a client gets: \
                versiongate check --explain bundle=com.example.doto version=1.1 platform=ios

                """
            ),
            "\(made.output)"
        )
        #expect(try await rule("block-1.1") == "=1.1|store|t|f|t|Please update\n")
        let check = "check --format json bundle=com.example.doto platform=ios os=17"
        #expect(try await versiongate.run("\(check) version=1.1").output.contains(#""lockout":true"#))
        #expect(try await versiongate.run("\(check) version=1.2").output == "{\"messages\":[]}\n")
        #expect(try await versiongate.run("\(check) version=1.1").output.contains("This version of Doto does not work"))
        #expect(try await versiongate.run("undo \(revision + 1) --yes").status == 0)
        #expect(try await TestDatabase.current.psql("SELECT count(*) FROM rules").output == "0\n")
        #expect(try await block("--yes").output.contains("Added rule block-1.1-2\n"))
    }

    @Test("A block takes title, text, key and link, and makes its own key unlike all others")
    func takesOptions() async throws {
        try await prepare(
            Self.app,
            Self.release,
            """
            INSERT INTO rules (key, bundle, versions, regions, lockout, enabled, title, text) VALUES
            ('block-1.0', NULL, NULL, NULL, false, false, 'T', 'X'), ('german', 'com.example.doto', '1.1', '{DE}', true, true, 'T', 'X')
            """
        )
        let options = ["--title", "Stop", "--text", "{app} 1.1 loses data.", "--link", "https://example.com", "--yes"]
        for (words, key, contents) in [
            (["1.1", "--key", "data-loss"], "data-loss", "=1.1"),
            (["1.1", "--build", "113", "--platform", "iOS"], "block-1.1-113", "=1.1|=113|{ios}"),
            (["1.1", "--build", "114", "--platform", "iOS"], "block-1.1-114", "=1.1|=114|{ios}"),
            (["1.0"], "block-1.0-2", "=1.0"),
        ] {
            let result = try await versiongate.run(arguments: ["block", "com.example.doto"] + words + options)
            #expect(result.status == 0, "\(result.errors)")
            #expect(try await rule(key) == "\(contents)|https://example.com|t|f|t|Stop\n")
        }
        let taken = try await versiongate.run(
            arguments: ["block", "com.example.doto", "0.9", "--key", "block-1.0"] + options
        )
        #expect(taken.errors.contains("there is a rule block-1.0 already"), "\(taken.errors)")
    }

    @Test("A block that would lock nobody out, or without a button, is refused with the commands that fix it")
    func isRefused() async throws {
        try await prepare(Self.app)
        let unknown = try await block("--yes")
        #expect(unknown.status == 1)
        #expect(
            unknown.errors == """
                Error: 1.1 is not blocked yet, nothing was changed:
                - No release above 1.1 to update to is recorded on any platform, withdrawn ones aside. Once users can get one:
                    versiongate release add com.example.doto VERSION --platform PLATFORM
                - com.example.doto has no store link for any platform, so the locked screen has no button there. \
                Add one, or name another link with --link https://...:
                    versiongate app edit com.example.doto --store-link PLATFORM=https://...

                """
        )
        try await TestDatabase.current.edit([
            """
            INSERT INTO releases (bundle, platform, version, live_at, withdrawn_at) VALUES
            ('com.example.doto', 'ios', '1.1', '2026-01-01Z', NULL), ('com.example.doto', 'ios', '1.3', '2026-01-01Z', '2026-01-02Z'),
            ('com.example.doto', 'android', '1.1.0', '2026-01-01Z', NULL)
            """
        ])
        let missing = try await block("--yes")
        for (platform, newest) in [("android", "1.1.0"), ("ios", "1.1")] {
            #expect(
                missing.errors.contains(
                    """
                    - No release above 1.1 to update to is recorded on \(platform), withdrawn ones aside; the newest is \(newest). Once users can \
                    get one:
                        versiongate release add com.example.doto VERSION --platform \(platform)
                    - com.example.doto has no store link for \(platform), so the locked
                    """
                ),
                "\(missing.errors)"
            )
        }
        // A platform is not waited for where nobody is locked out.
        #expect(try await versiongate.run("release add com.example.doto 1.2 --platform ios").status == 0)
        let noButton = try await block("--yes")
        #expect(noButton.status == 1)
        #expect(!noButton.errors.contains("No release") && !noButton.errors.contains("android"), "\(noButton.errors)")
        #expect(try await versiongate.run("app edit com.example.doto --store-link ios=https://example.com").status == 0)
        let made = try await block("--yes")
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.errors.contains("nobody has a way out of rule \"block-1.1\" on android"), "\(made.errors)")
        #expect(made.errors.contains("versiongate app edit com.example.doto --store-link android=https://..."))
        #expect(
            made.output.contains("block-1.1 is partly without lockout: no way out on android. What"),
            "\(made.output)"
        )
    }

    @Test("A block of one build names the build of a release that may be it")
    func namesBuilds() async throws {
        try await prepare(
            Self.app,
            Self.links,
            """
            INSERT INTO releases (bundle, platform, version, live_at)
            VALUES ('com.example.doto', 'ios', '1.1', now() - interval '1 day')
            """,
            counts: nil
        )
        let refused = try await block("--build 113 --platform ios --yes")
        #expect(refused.status == 1)
        #expect(
            refused.errors == """
                Error: 1.1 (113) is not blocked yet, nothing was changed:
                - Release 1.1 on ios has no build, so it may be 1.1 (113). If it is another:
                    versiongate release edit com.example.doto 1.1 --platform ios --set-build BUILD

                """
        )
        try await versiongate.run("release edit com.example.doto 1.1 --platform ios --set-build 113")
        let same = try await block("--build 113 --platform ios --yes")
        #expect(
            same.errors.contains(
                "No release above 1.1 (113) to update to is recorded on ios, withdrawn ones aside; the newest is 1.1 (113)."
            )
        )
        try await versiongate.run("release edit com.example.doto 1.1 --platform ios --set-build 114")
        let made = try await block("--build 113 --platform ios --yes")
        #expect(made.status == 0, "\(made.errors)")
        let client = "check --format json bundle=com.example.doto version=1.1 platform=ios"
        #expect(
            made.output.hasSuffix(" bundle=com.example.doto version=1.1 build=113 platform=ios\n"),
            "\(made.output)"
        )
        #expect(try await versiongate.run("\(client) build=113").output.contains(#""lockout":true"#))
        #expect(try await versiongate.run("\(client) build=112").output == "{\"messages\":[]}\n")
    }

    @Test("A block counts releases that are to come, and says where and from when on somebody is locked out")
    func waits() async throws {
        try await prepare(
            Self.app, Self.links,
            "INSERT INTO releases (bundle, platform, version, staged) VALUES ('com.example.doto', 'android', '1.2', true)",
            "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('com.example.doto', 'ios', '1.2', '2099-01-01Z')"
        )
        let made = try await block("--yes")
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.errors.contains("nobody has a way out of rule \"block-1.1\" on android"), "\(made.errors)")
        #expect(made.errors.contains("on ios until 2099-01-01T00:00:00Z"), "\(made.errors)")
        #expect(
            made.output.contains("block-1.1 is on without lockout: no way out on android, ios. What"),
            "\(made.output)"
        )
    }

    /// Command lines that are refused, and what is said.
    static let mistakes: [(line: String, message: String)] = [
        ("com.example.dotto 1.1", "there is no app com.example.dotto; did you mean com.example.doto?"),
        ("nosuch 1.1", "there is no app \"nosuch\""),
        ("com.example.doto <1.1", #""<1.1" is not one version; write it as the app reports it: 1.1.3"#),
        ("com.example.doto 1.x", "--versions '>=1.1 <1.2'"),
        ("com.example.doto 1.1 --build >5", #"">5" is not one build"#),
        ("com.example.doto 1.1 --build 100-110", "--versions =1.1 --builds '100 - 110'"),
        ("com.example.doto 1.1 --platform i:os", #""i:os" is not a platform"#),
        (
            "com.example.doto 9.9 --yes",
            "No release above 9.9 to update to is recorded on ios, withdrawn ones aside; the newest is 1.2."
        ),
        ("com.example.doto 1.0 --yes", "rule old blocks 1.0 and is off; to turn it on: versiongate rule enable old"),
        ("com.example.doto 0.9 --yes", "rule older blocks 0.9 already; `versiongate rule show older` shows it"),
    ]

    @Test("A block that is misspelled, or there already, is refused and says what to write", arguments: mistakes)
    func isMisspelled(_ line: String, _ message: String) async throws {
        try await prepare(
            Self.app,
            Self.links,
            Self.release,
            """
            INSERT INTO rules (key, bundle, versions, lockout, enabled, title, text) VALUES
            ('old', 'com.example.doto', '1.0.0', true, false, 'T', 'X'), ('older', 'com.example.doto', '=0.9', true, true, 'T', 'X')
            """
        )
        let revision = try await TestDatabase.current.revision()
        let result = try await versiongate.run("block \(line)")
        #expect(result.status == 1)
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(try await TestDatabase.current.revision() == revision)
    }

    @Test("A block says that no check came from the version, and that the app is paused")
    func saysWhatIsThere() async throws {
        try await prepare(Self.app, Self.links, Self.release)
        try await versiongate.run("app pause com.example.doto")
        let made = try await versiongate.run("block com.example.doto 1.0 --yes")
        #expect(made.status == 0, "\(made.errors)")
        #expect(
            made.output.hasPrefix("0.0 % of the 1,000 checks of com.example.doto in the last 7 days came from 1.0.\n")
        )
        #expect(made.output.contains("block-1.0 is paused: com.example.doto is paused. What"), "\(made.output)")
        #expect(made.output.contains(" bundle=com.example.doto version=1.0 platform=PLATFORM\n"), "\(made.output)")
    }

    @Test("A block on a terminal asks as every edit does, and nothing else")
    func asks() async throws {
        try await prepare(Self.app, Self.links, Self.release)
        let before = try await TestDatabase.current.revision()
        let terminal = try await TerminalSession(versiongate)
        defer { terminal.end() }
        for (answer, end) in [
            ("n", "nothing was changed, as the answer was not y"), ("y", "versiongate undo \(before + 1)\n"),
        ] {
            try terminal.type("versiongate block com.example.doto 1.1\n")
            let question = try await terminal.expect("? [y/N] ")
            #expect(question.contains("70.0 % of the 1,000 checks of com.example.doto"), "\(question)")
            #expect(question.contains("This would newly lock out up to 60.0 % of the recent checks"), "\(question)")
            #expect(try await TestDatabase.current.revision() == before)
            try terminal.type("\(answer)\n")
            try await terminal.expect(end)
            try await terminal.expect(TerminalSession.prompt)
        }
        #expect(try await rule("block-1.1") == "=1.1|store|t|f|t|Please update\n")
    }
}
