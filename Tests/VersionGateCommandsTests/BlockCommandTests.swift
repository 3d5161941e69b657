// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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
        try await prepare(
            Self.app,
            Self.links,
            Self.release,
            counts: Self.counts + ", (now() - interval '30 hours', 'com.example.doto', 'ios', '1.0', 200, 0, 0)"
        )
        let revision = try await TestDatabase.current.revision()
        let refused = try await block()
        #expect(refused.status == 1)
        #expect(
            refused.output.contains(
                """
                58.3 % of the 1,200 checks of com.example.doto in the last 7 days came from 1.1, and 70.0 % of those of the \
                last 24 hours.\n
                """
            ),
            "\(refused.output)"
        )
        #expect(refused.output.contains("The update for iOS is 1.2.\n"))
        #expect(
            refused.output.contains(
                """
                On android no release above 1.1 is recorded: users there get the message without the lockout. If they can get \
                one: versiongate release add com.example.doto VERSION --platform android\n
                """
            ),
            "\(refused.output)"
        )
        #expect(refused.errors.contains("repeat it with --yes if it is meant"), "\(refused.errors)")
        #expect(try await TestDatabase.current.revision() == revision)
        let made = try await block("--yes --why bad")
        #expect(made.status == 0, "\(made.errors)")
        #expect(
            made.output.contains("This is change \(revision + 1). To take it back: versiongate undo \(revision + 1)\n")
        )
        #expect(
            made.output.hasSuffix(
                "What such a client gets: versiongate check --explain bundle=com.example.doto version=1.1 platform=ios\n"
            ),
            "\(made.output)"
        )
        #expect(try await rule("block-1.1") == "=1.1|store|t|f|t|Please update\n")
        let check = "check --format json bundle=com.example.doto platform=ios os=17"
        #expect(try await versiongate.run("\(check) version=1.1").output.contains(#""lockout":true"#))
        #expect(try await versiongate.run("\(check) version=1.2").output == "{\"messages\":[]}\n")
        #expect(try await versiongate.run("\(check) version=1.1").output.contains("This version of Doto does not work"))
    }

    @Test("A block takes title, text, key and link, and makes its own key unlike all others")
    func takesOptions() async throws {
        try await prepare(Self.app, Self.release)
        let options = ["--title", "Stop", "--text", "{app} 1.1 loses data.", "--link", "https://example.com", "--yes"]
        let named = try await versiongate.run(
            arguments: ["block", "com.example.doto", "1.1", "--key", "data-loss"] + options
        )
        #expect(named.status == 0, "\(named.errors)")
        #expect(try await rule("data-loss") == "=1.1|https://example.com|t|f|t|Stop\n")
        for (build, key) in [("113", "block-1.1-113"), ("114", "block-1.1-114")] {
            let result = try await versiongate.run(
                arguments: ["block", "com.example.doto", "1.1", "--build", build, "--platform", "iOS"] + options
            )
            #expect(result.status == 0, "\(result.errors)")
            #expect(try await rule(key) == "=1.1|=\(build)|{ios}|https://example.com|t|f|t|Stop\n")
        }
        try await TestDatabase.current.edit("INSERT INTO rules (key, title, text) VALUES ('block-1.0', 'T', 'X')")
        let other = try await versiongate.run(arguments: ["block", "com.example.doto", "1.0"] + options)
        #expect(other.status == 0, "\(other.errors)")
        #expect(try await rule("block-1.0-2") == "=1.0|https://example.com|t|f|t|Stop\n")
        let taken = try await versiongate.run(
            arguments: ["block", "com.example.doto", "0.9", "--key", "block-1.0"] + options
        )
        #expect(taken.errors.contains("there is a rule block-1.0 already"), "\(taken.errors)")
    }

    @Test("A block that would lock nobody out, or without a button, is refused with the commands that fix it")
    func isRefused() async throws {
        try await prepare(Self.app)
        let missing = try await block("--yes")
        #expect(missing.status == 1)
        #expect(missing.errors.contains("1.1 is not blocked yet, nothing was changed on "), "\(missing.errors)")
        #expect(
            missing.errors.hasSuffix(
                """
                - No release above 1.1 is recorded on android, so nobody would be locked out.
                  If users can get one:
                    versiongate release add com.example.doto VERSION --platform android
                - No release above 1.1 is recorded on ios, so nobody would be locked out.
                  33.3 % of the checks there come from 1.2. If all users can get it:
                    versiongate release add com.example.doto 1.2 --platform ios
                - com.example.doto has no store link for android, so the locked screen there would have no button. Add one, \
                or name another link with --link https://...:
                    versiongate app edit com.example.doto --store-link android=https://...
                - com.example.doto has no store link for ios, so the locked screen there would have no button. Add one, or \
                name another link with --link https://...:
                    versiongate app edit com.example.doto --store-link ios=https://...

                """
            ),
            "\(missing.errors)"
        )
        // What was proposed is what was missing.
        #expect(try await versiongate.run("release add com.example.doto 1.2 --platform ios").status == 0)
        let noButton = try await block("--yes")
        #expect(noButton.status == 1)
        #expect(!noButton.errors.contains("No release") && !noButton.errors.contains("android"), "\(noButton.errors)")
        #expect(
            try await versiongate.run("app edit com.example.doto --store-link ios=https://example.com").status == 0
        )
        let made = try await block("--yes")
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.errors.isEmpty, "\(made.errors)")
    }

    @Test("A block proposes no release that was withdrawn, and takes none")
    func leavesWithdrawn() async throws {
        try await prepare(
            Self.app,
            Self.links,
            """
            INSERT INTO releases (bundle, platform, version, live_at, withdrawn_at)
            VALUES ('com.example.doto', 'ios', '1.2.0', '2026-01-01Z', '2026-01-02Z')
            """
        )
        let refused = try await block("--platform ios --yes")
        #expect(refused.errors.contains("versiongate release add com.example.doto VERSION --platform ios\n"))
        #expect(!refused.errors.contains("1.2"), "\(refused.errors)")
        let terminal = try await TerminalSession(versiongate)
        defer { terminal.end() }
        try terminal.type("versiongate block com.example.doto 1.1 --platform ios\n")
        try await terminal.expect("(- for none): ")
        try terminal.type("1.2\n")
        try await terminal.expect(
            """
            1.2 was withdrawn there. If users can get it again: versiongate release edit com.example.doto 1.2 --platform ios \
            --clear withdrawn-at\n
            """
        )
        try await terminal.expect("(- for none): ")
    }

    @Test("A block says of a platform without a release that it has no link for the button either")
    func namesLinksToCome() async throws {
        try await prepare(
            Self.app,
            Self.release,
            "INSERT INTO store_links VALUES ('com.example.doto', 'ios', 'https://example.com')"
        )
        let made = try await block("--yes")
        #expect(made.status == 0, "\(made.errors)")
        #expect(
            made.output.contains(
                """
                If they can get one: versiongate app edit com.example.doto --store-link android=https://..., for the button, \
                and then: versiongate release add com.example.doto VERSION --platform android\n
                """
            ),
            "\(made.output)"
        )
    }

    @Test("A block of one build asks for the build of a release that may be it")
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
            refused.errors.contains(
                """
                  Release 1.1 there has no build, so it may be 1.1 (113). If it is another build:
                    versiongate release edit com.example.doto 1.1 --platform ios --set-build BUILD
                """
            ),
            "\(refused.errors)"
        )
        let low = try await versiongate.run("release edit com.example.doto 1.1 --platform ios --set-build 114")
        #expect(low.status == 0, "\(low.errors)")
        #expect(low.output.contains("build: (none) -> 114"), "\(low.output)")
        let made = try await block("--build 113 --platform ios --yes")
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("The update for iOS is 1.1 (114).\n"), "\(made.output)")
        let client = "check --format json bundle=com.example.doto version=1.1 platform=ios"
        #expect(try await versiongate.run("\(client) build=113").output.contains(#""lockout":true"#))
        #expect(try await versiongate.run("\(client) build=112").output == "{\"messages\":[]}\n")
    }

    @Test("A block says of a release who can get it, and of one that is to come from when on somebody is locked out")
    func waits() async throws {
        try await prepare(
            Self.app,
            Self.links,
            "INSERT INTO releases (bundle, platform, version, staged) VALUES ('com.example.doto', 'android', '1.2', true)",
            "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('com.example.doto', 'ios', '1.2', '2099-01-01Z')",
            """
            INSERT INTO releases (bundle, platform, version, min_os, regions, live_at)
            VALUES ('com.example.doto', 'macos', '1.2', '15', '{JP,US}', '2026-01-01Z')
            """
        )
        let made = try await block("--link https://example.com --yes")
        #expect(made.status == 0, "\(made.errors)")
        #expect(
            made.output.contains("The update for Android is 1.2, which is staged: nobody is locked out there until "),
            "\(made.output)"
        )
        #expect(made.output.contains("The update for macOS is 1.2 (requires macOS 15, in JP, US).\n"))
        #expect(
            made.output.contains(
                "The update for iOS is 1.2, which is live from 2099-01-01T00:00:00Z: nobody is locked out there until then."
            )
        )
    }

    /// Command lines that are refused, and what is said.
    static let mistakes: [(line: String, message: String)] = [
        ("com.example.dotto 1.1", "there is no app com.example.dotto; did you mean com.example.doto?"),
        ("nosuch 1.1", "To add it: versiongate app add nosuch --store-link ios=https://..."),
        ("com.example.doto <1.1", #""<1.1" is not one version; write it as the app reports it"#),
        ("com.example.doto 1.x", "--versions '>=1.1 <1.2'"),
        ("com.example.doto 1.1 --build >5", #"">5" is not one build"#),
        ("com.example.doto 1.1 --platform i:os", #""i:os" is not a platform"#),
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

    @Test("A block of a version that nobody has says which there are, and needs a platform where nothing is known")
    func saysWhatIsThere() async throws {
        try await prepare(Self.app, counts: nil)
        let nothing = try await block()
        #expect(nothing.status == 1)
        #expect(nothing.errors.contains("versiongate block com.example.doto 1.1 --platform ios\n"), "\(nothing.errors)")
        try await prepare(Self.links, Self.release)
        let other = try await versiongate.run("block com.example.doto 1.0 --yes")
        #expect(other.status == 0, "\(other.errors)")
        #expect(
            other.output.contains(
                "None of the 1,000 checks of com.example.doto in the last 7 days came from 1.0. They came from 1.1 (70.0 %), "
                    + "1.2 (30.0 %).\n"
            ),
            "\(other.output)"
        )
        try await versiongate.run("app pause com.example.doto")
        let paused = try await versiongate.run("block com.example.doto 0.9 --yes")
        #expect(paused.output.contains("nobody gets the message until: versiongate app resume com.example.doto\n"))
    }

    @Test("A block on a terminal asks for all that is missing, and makes it in one change that can be taken back")
    func asks() async throws {
        try await prepare(Self.app)
        let before = try await TestDatabase.current.revision()
        let terminal = try await TerminalSession(versiongate)
        defer { terminal.end() }
        try terminal.type("versiongate block com.example.doto 1.1\n")
        try await terminal.expect("Version that users on android can get now (- for none): ")
        try terminal.type("-\n")
        let proposal = try await terminal.expect("Version that users on ios can get now (- for none) [1.2]: ")
        #expect(proposal.contains("33.3 % of the checks there come from 1.2."), "\(proposal)")
        for (answer, complaint) in [
            ("new", "new is not a version"), ("1.0", "1.0 is not above 1.1, so it is no way out"),
        ] {
            try terminal.type("\(answer)\n")
            try await terminal.expect(complaint)
            try await terminal.expect(" [1.2]: ")
        }
        try terminal.type("\n")
        let link = try await terminal.expect("Link to the app in the store (https://...): ")
        #expect(link.contains("no store link for ios, so the locked screen there would have no button"), "\(link)")
        #expect(!link.contains("android"))
        try terminal.type("apps.apple.com/app/id1\n")
        try await terminal.expect("apps.apple.com/app/id1 is not a link to a store")
        try await terminal.expect(": ")
        try terminal.type("https://apps.apple.com/app/id1\n")
        try await terminal.expect("Title [Please update]: ")
        try terminal.type("Stop\n")
        try await terminal.expect("Please install the newest version.]: ")
        try terminal.type("\n")
        let impact = try await terminal.expect("? [y/N] ")
        #expect(impact.contains("The update for iOS is 1.2.\n"), "\(impact)")
        #expect(impact.contains("This would newly lock out up to 60.0 % of the recent checks"), "\(impact)")
        try terminal.type("y\n")
        try await terminal.expect("To take it back: versiongate undo \(before + 1)\n")
        try await terminal.expect(TerminalSession.prompt)
        #expect(try await rule("block-1.1") == "=1.1|store|t|f|t|Stop\n")
        let check = "check --format json bundle=com.example.doto version=1.1 platform=ios"
        #expect(
            try await versiongate.run(check).output.contains(
                #""link":"https://apps.apple.com/app/id1","lockout":true"#
            )
        )
        #expect(try await versiongate.run("undo \(before + 1) --yes").status == 0)
        #expect(try await TestDatabase.current.psql("SELECT count(*) FROM releases, store_links").output == "0\n")
    }

    @Test("A block on a terminal asks for builds, and changes nothing without answers")
    func asksForBuilds() async throws {
        try await prepare(
            Self.app,
            Self.links,
            """
            INSERT INTO releases (bundle, platform, version, live_at)
            VALUES ('com.example.doto', 'ios', '1.1', now() - interval '1 day')
            """,
            counts: nil
        )
        let revision = try await TestDatabase.current.revision()
        let terminal = try await TerminalSession(versiongate)
        defer { terminal.end() }
        let command = "versiongate block com.example.doto 1.1 --build 113 --platform ios --title T --text X\n"
        try terminal.type(command)
        try await terminal.expect("Build of 1.1 that users on ios can get now (- for another version): ")
        try terminal.type("-\n")
        try await terminal.expect("Version that users on ios can get now (- for none): ")
        try terminal.type("1.1\n")
        try await terminal.expect("Its build (- for another version): ")
        try terminal.type("-\n")
        try await terminal.expect("(- for none): ")
        try terminal.type("-\n")
        try await terminal.expect("1.1, build 113, iOS is not blocked yet, nothing was changed on ")
        try await terminal.expect(TerminalSession.prompt)
        try terminal.type(command)
        try await terminal.expect("(- for another version): ")
        try terminal.type("113\n")
        try await terminal.expect("113 is not above 113.\n")
        try await terminal.expect("(- for another version): ")
        try terminal.type("114\n")
        try await terminal.expect("? [y/N] ")
        try terminal.type("n\n")
        try await terminal.expect("nothing was changed, as the answer was not y")
        #expect(try await TestDatabase.current.revision() == revision)
        try terminal.type(command)
        try await terminal.expect("(- for another version): ")
        try terminal.type("114\n")
        try await terminal.expect("? [y/N] ")
        try terminal.type("y\n")
        try await terminal.expect("To take it back: versiongate undo \(revision + 1)\n")
        #expect(try await TestDatabase.current.psql("SELECT build FROM releases").output == "114\n")
    }

    @Test("A block on a terminal asks for the platform where nothing is known, and ends with its input")
    func asksForPlatform() async throws {
        try await prepare(Self.app, counts: nil)
        let terminal = try await TerminalSession(versiongate)
        defer { terminal.end() }
        try terminal.type("versiongate block com.example.doto 1.1\n")
        try await terminal.expect("Platform (ios, android, macos, ...): ")
        try terminal.type("android\n")
        try await terminal.expect("Version that users on android can get now (- for none): ")
        try terminal.type("\u{4}")
        try await terminal.expect("nothing was changed, as the answers ended")
        #expect(try await TestDatabase.current.revision() == 1)
    }
}
