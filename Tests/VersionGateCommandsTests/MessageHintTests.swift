import Postgres
import TestDatabase
import TestSystem
import Testing

@Suite("Message hints", .migratedDatabase)
struct MessageHintTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private static let client = "bundle=com.example.doto version=1.1 platform=ios"
    private static let sent = """
        {"messages":[{"id":"update-1.2","title":"T","text":"X","remind":86400,"shows":3,"skip":true,"target":"1.2"}]}
        """

    private func addRule(_ options: String) async throws -> BuiltBinary.Result {
        try await versiongate.run("rule add update-1.2 --title T --text X --yes \(options)")
    }

    /// An app with a release, and a rule with all hints.
    private func addAll() async throws {
        try await versiongate.run("app add com.example.doto")
        try await versiongate.run("release add com.example.doto 1.2 --platform ios --live-at -1h --yes")
        let rule = try await addRule(
            "--bundle com.example.doto --target 1.2 --remind 1d --shows 3 --skippable --enable"
        )
        #expect(rule.status == 0 && rule.errors.contains("no effect") == false, "\(rule.errors)")
    }

    @Test("Hints are given with the rule, shown with it and with its message, and taken away again")
    func commands() async throws {
        try await addAll()
        let shown = try await versiongate.run("rule show update-1.2").output
        for line in [
            "remind                  1 day\n", "shows                   3\n", "skippable               true\n",
        ] {
            #expect(shown.contains(line), "\(shown)")
        }
        let list = try await versiongate.run("rule list").output
        #expect(list.contains("HINTS") && list.contains("  remind 1 day, shows 3, skippable  "), "\(list)")
        #expect(try await versiongate.run("check --format json \(Self.client)").output == Self.sent + "\n")
        let sentence = "Shown again after 1 day, at most 3 times; can be skipped."
        #expect(try await versiongate.run("check \(Self.client)").output.contains("   \(sentence)\n"))
        let explained = try await versiongate.run("check --explain \(Self.client)").output
        #expect(explained.contains("update-1.2 is sent: 1.2 is available to this client. \(sentence)"), "\(explained)")

        let edit = try await versiongate.run("rule edit update-1.2 --remind 36h --shows 1 --no-skippable")
        #expect(edit.output.contains("remind: 1 day -> 1 day 12:00:00"), "\(edit.output)")
        #expect(try await versiongate.run("check \(Self.client)").output.contains("   Shown once.\n"))
        try await versiongate.run("rule edit update-1.2 --clear shows")
        #expect(
            try await versiongate.run("check \(Self.client)").output.contains("   Shown again after 1 day 12 hours.\n")
        )
        try await versiongate.run("rule edit update-1.2 --clear remind --skippable")
        #expect(try await versiongate.run("check \(Self.client)").output.contains("   Can be skipped.\n"))
        try await versiongate.run("rule edit update-1.2 --no-skippable")
        #expect(
            try await versiongate.run("check --format json \(Self.client)").output
                == #"{"messages":[{"id":"update-1.2","title":"T","text":"X"}]}"# + "\n"
        )
        #expect(try await versiongate.run("rule list").output.contains("HINTS") == false)
    }

    @Test("Hints are in the history, come back with an undo, and go through a policy file")
    func history() async throws {
        try await PolicyFileFixture.with { fixture in
            let add = """
                rule add update-1.2 --title T --text X --bundle com.example.doto --target 1.2 --remind 1d --shows 3 --skippable
                """
            try await fixture.binary.run("app add com.example.doto")
            try await fixture.binary.run(add)
            let exported = try await fixture.exported()
            #expect(exported.contains("    remind: 1 day\n    shows: 3\n    skippable: true\n"), "\(exported)")
            let file = try fixture.write(exported)
            #expect(try await fixture.binary.run("plan \(file)").status == 0)

            try await fixture.binary.run("rule edit update-1.2 --clear remind --clear shows --no-skippable")
            let shown = try await fixture.binary.run("history --limit 1").output
            for change in ["remind: 1 day -> (none)", "shows: 3 -> (none)", "skippable: true -> false"] {
                #expect(shown.contains(change), "\(shown)")
            }
            #expect(try await fixture.exported() != exported)
            let plan = try await fixture.binary.run("plan \(file)")
            #expect(plan.status == 2 && plan.output.contains("remind: (none) -> 1 day"), "\(plan.output)")
            let undone = try await fixture.binary.run("undo 3").output
            for change in ["remind: (none) -> 1 day", "shows: (none) -> 3", "skippable: false -> true"] {
                #expect(undone.contains(change), "\(undone)")
            }
            #expect(try await fixture.exported() == exported)

            try await fixture.binary.run("rule edit update-1.2 --remind 1h --shows 4")
            #expect(try await fixture.binary.run("apply --yes \(file)").status == 0)
            #expect(try await fixture.exported() == exported)
        }
    }

    @Test("Hints are sent by a server, and not in the shape of 2013")
    func served() async throws {
        try await addAll()
        try await StateFolder.with { folder in
            let binary = BuiltBinary(environment: ["DATABASE_URL": TestDatabase.current.url(user: "versiongate_server")]
            )
            let ending = try await ServingBinary.run(binary, arguments: ["--state-dir", folder.path]) {
                server async throws in
                let body = #"{"bundle":"com.example.doto","version":"1.1","platform":"ios"}"#
                #expect(try await server.check(body) == Self.sent)
                #expect(
                    try await server.check(body, at: "/tables/vLoadMessages")
                        == #"{"messages":[{"id":"update-1.2","title":"T","message":"X"}]}"#
                )
            }
            #expect(ending.status == 0, "\(ending.errors)")
        }
    }

    @Test(
        "Hints that mean nothing are refused in the words of the command line",
        arguments: [
            ("--remind 0", "rules.remind: no time at all\nHint: For the message at every start leave the option out"),
            ("--remind 2x", "\"2x\" is not a length of time\nHint: Write weeks, days, hours"),
            ("--remind 1.5s", "\"00:00:01.5\" has a fraction of a second in it\nHint: Write whole seconds"),
            ("--remind -1d", "--remind is -1d, and nothing that it takes is negative"),
            ("--remind 1mon", "\"1 mon\" has months in it"),
            ("--shows 0", "rules.shows: 0 is not from 1 to 1000\nHint: Write how often"),
            ("--shows 1001", "For no limit leave the option out, or take it away with --clear"),
            ("--shows -1", "rules.shows: -1 is not from 1 to 1000"),
            ("--shows 99999999999", "The value '99999999999' is invalid for '--shows <number>'"),
            ("--position 99999999999", "The value '99999999999' is invalid for '--position <number>'"),
            ("--shows often", "--shows <number>"),
        ]
    )
    func refused(_ options: String, _ message: String) async throws {
        let result = try await addRule(options)
        #expect(result.status != 0)
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(!result.errors.contains("NULL"), "\(result.errors)")
    }

    @Test("Hints of a lockout that is never without it draw a warning with options, and a lockout with a way out none")
    func warned() async throws {
        try await versiongate.run("app add com.example.doto")
        let always = try await addRule("--lockout --lockout-without-update --ends-at +1h --shows 3")
        #expect(always.status == 0)
        #expect(
            always.errors.contains("remind, shows and skippable have no effect with lockout_without_update")
                && always.errors.contains(
                    "versiongate rule edit update-1.2 --clear remind --clear shows --no-skippable"
                ),
            "\(always.errors)"
        )
        let edit = try await versiongate.run("rule edit update-1.2 --no-lockout-without-update --remind 1d")
        #expect(!edit.errors.contains("no effect"), "\(edit.errors)")
    }
}
