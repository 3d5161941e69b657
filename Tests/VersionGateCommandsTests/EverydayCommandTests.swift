import TestDatabase
import Testing

@Suite("Everyday commands", .migratedDatabase)
struct EverydayCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    // MARK: The least system

    @Test(
        "A least system is asked about where the selected rows are of several platforms, or no system has such a number"
    )
    func leastSystem() async throws {
        try await TestDatabase.current.edit(
            "INSERT INTO apps (bundle) VALUES ('a')",
            """
            INSERT INTO releases (bundle, platform, version, build, live_at, min_os) VALUES
                ('a', 'ios', '1.2', '42', '2026-01-01Z', '14'), ('a', 'android', '1.2', '7', '2026-01-01Z', '8')
            """
        )
        let several = try await versiongate.run("release edit a 1.2 --min-os 15")
        #expect(several.status == 1)
        #expect(
            several.errors.contains("--min-os means something else on android and ios; choose one with --platform"),
            "\(several.errors)"
        )
        for options in ["--build 42 --min-os 15", "--platform android --min-os 9"] {
            let one = try await versiongate.run("release edit a 1.2 \(options)")
            #expect(one.status == 0, "\(options): \(one.errors)")
        }
        let chrome = try await versiongate.run("release add a 1.2 --platform chromeos --min-os 120")
        #expect(chrome.status == 0, "\(chrome.errors)")
        for platform in ["ios", "windows", "android"] {
            let none = try await versiongate.run("release add a 1.3 --platform \(platform) --min-os 220")
            #expect(none.status == 1)
            #expect(
                none.errors.contains("no client on \(platform) is offered it, as no system there is at 220"),
                "\(none.errors)"
            )
        }
    }

    // MARK: Pausing

    private func paused() async throws -> String {
        try await TestDatabase.current.psql("SELECT string_agg(bundle, ' ' ORDER BY bundle) FROM apps WHERE paused")
            .output
    }

    @Test("Pausing all apps is one change, whose undo leaves paused what was paused before, and warns of what goes on")
    func pausesAll() async throws {
        let none = try await versiongate.run("app pause --all")
        #expect(none.status == 1)
        #expect(none.errors.contains("there are no apps; add one with `versiongate app add BUNDLE`"), "\(none.errors)")
        try await TestDatabase.current.edit(
            "INSERT INTO apps (bundle, paused) VALUES ('a', false), ('b', true), ('c', false)",
            """
            INSERT INTO rules (key, bundle, enabled, ends_at, title, text) VALUES ('news', NULL, true, NULL, 't', 'x'),
            ('off', NULL, false, NULL, 't', 'x'), ('over', NULL, true, '2026-01-01Z', 't', 'x'), ('own', 'a', true, NULL, 't', 'x')
            """
        )
        let pause = try await versiongate.run("app pause --all --why night")
        #expect(pause.status == 0, "\(pause.errors)")
        #expect(pause.output.contains("Changed app a\n") && pause.output.contains("Changed app c\n"))
        #expect(!pause.output.contains("app b"))
        #expect(
            pause.errors == """
                Warning: rule news is for every app, so clients whose app was not added still get it \
                (versiongate rule disable news)

                """
        )
        #expect(try await paused() == "a b c\n")
        #expect(try await versiongate.run("app pause --all").output.contains("the policy was like that already"))
        #expect(try await versiongate.run("undo --yes").status == 0)
        #expect(try await paused() == "b\n")
        #expect(try await versiongate.run("app pause --all").status == 0)
        #expect(try await versiongate.run("app resume --all").status == 0)
        #expect(try await paused() == "\n")
    }

    @Test(
        "Pausing needs an app or all of them",
        arguments: [
            ("app pause", "Name the app, or give --all for every app."),
            ("app resume", "Name the app, or give --all for every app."),
            ("app pause a --all", "--all means every app; leave out either a or --all."),
        ]
    )
    func namesApps(_ line: String, _ message: String) async throws {
        let result = try await versiongate.run(line)
        #expect(result.status == 64)
        #expect(result.errors.contains(message), "\(result.errors)")
    }

    // MARK: Builds of releases

    @Test("A release gets its build by --set-build, on the rows that are selected")
    func setsBuild() async throws {
        try await TestDatabase.current.edit(
            "INSERT INTO apps (bundle) VALUES ('a')",
            "INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '1.2'), ('a', 'android', '1.2')"
        )
        let made = try await versiongate.run("release edit a 1.2 --platform ios --set-build 42")
        #expect(made.status == 0, "\(made.errors)")
        let builds = "SELECT string_agg(concat_ws(' ', platform, build), ', ' ORDER BY platform) FROM releases"
        #expect(try await TestDatabase.current.psql(builds).output == "android, ios 42\n")
        #expect(try await versiongate.run("release edit a 1.2 --build 42 --set-build 43").status == 0)
        #expect(try await TestDatabase.current.psql(builds).output == "android, ios 43\n")
        let wrong = try await versiongate.run("release edit a 1.2 --platform ios --set-build x")
        #expect(wrong.status == 1)
        #expect(wrong.errors.contains(#""x" is not a version"#), "\(wrong.errors)")
    }

    // MARK: Searching rules

    @Test(
        "Rules are found by what their keys, messages, notes and translations say; case does not count",
        arguments: [
            ("MAINTENANCE", "maintenance"), ("bitte ÄNDERN", "update"), ("Ticket 12", "update"), ("is there", "update"),
            ("%", "maintenance"), ("da_ta", ""),
        ]
    )
    func search(_ text: String, _ key: String) async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO rules (key, title, text, note) VALUES ('update', 'Please update', '{app} is there.', 'TICKET 1234'),
            ('maintenance', 'Down', 'Back at 100 %.', NULL), ('other', 'data', 'x', NULL);
            INSERT INTO rule_texts VALUES ('update', 'de', 'Bitte ändern', 'X')
            """
        )
        let list = try await versiongate.run(arguments: ["rule", "list", "--search", text])
        let json = try await versiongate.run(arguments: ["rule", "list", "--search", text, "--format", "json"])
        #expect(list.status == 0 && json.status == 0, "\(list.errors)")
        if key.isEmpty {
            #expect(list.output == "No rule has \"\(text)\" in it.\n")
            #expect(json.output == "[]\n")
        } else {
            #expect(list.output.split(separator: "\n").dropFirst().map { $0.prefix(key.count) } == [key[...]])
            #expect(json.output.ranges(of: #""key":"#).count == 1 && json.output.contains(#""key":"\#(key)""#))
        }
        let elsewhere = try await versiongate.run("rule list --search nothing --bundle a")
        #expect(elsewhere.output == "No rule of a has \"nothing\" in it.\n")
    }

    // MARK: The history

    private func lines(_ options: String) async throws -> [Substring] {
        let result = try await versiongate.run("history \(options)")
        #expect(result.status == 0, "\(result.errors)")
        return result.output.split(separator: "\n")
    }

    @Test("The history is cut by time and by name, in both formats")
    func sinceAndBy() async throws {
        try await versiongate.run("app add a")
        try await TestDatabase.current.edit("SET versiongate.os_user = 'anna'; INSERT INTO apps (bundle) VALUES ('b')")
        #expect(try await lines("--oneline --by anna").count == 1)
        #expect(try await lines("--oneline --by versiongate_admin").count == 2)
        #expect(try await lines("--by nobody") == ["No changes."])
        #expect(try await lines("--oneline --since -1h").count == 2)
        #expect(try await lines("--since +1h") == ["No changes."])
        #expect(try await lines("--by anna --format json").joined().contains(#""os_user":"anna""#))
        #expect(try await lines("--since +1h --format json") == ["[]"])
    }

    @Test("The history has one line for each change where the details would be long, or if it is told to")
    func oneLine() async throws {
        try await versiongate.run(arguments: ["app", "add", "a", "--why", "new"])
        try await TestDatabase.current.edit(
            "INSERT INTO rules (key, bundle, title, text) SELECT 'r' || i, 'a', 't', 'x' FROM generate_series(1, 12) AS i",
            "UPDATE rules SET title = 'u', text = 'y' WHERE key = 'r1'",
            "DELETE FROM rules WHERE key <> 'r1'; UPDATE apps SET name = 'A'"
        )
        let long = try await lines("")
        #expect(long.count == 5)
        #expect(long[0].hasSuffix("  changed app a; removed 11 rules"), "\(long)")
        #expect(long[1].hasSuffix("  changed rule r1: title, text"))
        #expect(long[2].hasSuffix("  added 12 rules"))
        #expect(long[3].hasSuffix("  versiongate  added app a  (new)"))
        #expect(long[4].hasPrefix("The details take ") && long[4].hasSuffix(" lines; --details shows them."))
        #expect(try await lines("--oneline") == long.dropLast())
        #expect(try await lines("--details").contains("  Added rule r5"))
        #expect(try await lines("--limit 1").contains("  Removed rule r5"))
        #expect(try await versiongate.run("history --oneline --details").status == 64)
    }
}
