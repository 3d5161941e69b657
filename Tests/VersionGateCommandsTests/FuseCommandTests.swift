import Foundation
import Postgres
import TestDatabase
import TestSystem
import Testing

@Suite("Commands of fuses", .migratedDatabase, .timeLimit(.minutes(20)))
struct FuseCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private static let rule =
        "rule add k --title T --text X --bundle com.example.doto --versions <1.1 --link store --yes"

    /// An app with a release and a store link, of whose 1,000 checks 60 come from 1.0.
    private func addApp() async throws {
        try await versiongate.run("app add com.example.doto --store-link ios=https://apps.apple.com/app/id1")
        try await versiongate.run("release add com.example.doto 2.0 --platform ios --live-at -1d --yes")
        try await TestDatabase.current.connect().execute(
            """
            INSERT INTO check_counts (hour, bundle, platform, version, os, checks, messages, lockouts)
            VALUES (date_trunc('hour', now()) - interval '1 hour', 'com.example.doto', 'ios', '1.0', '17', 60, 0, 0),
                (date_trunc('hour', now()) - interval '1 hour', 'com.example.doto', 'ios', '2.0', '17', 940, 0, 0)
            """
        )
    }

    @Test("A fuse is given with a rule or a block, shown, edited, cleared, and goes through history and copies")
    func options() async throws {
        try await addApp()
        let added = try await versiongate.run("\(Self.rule) --lockout --fuse 12.5% --enable")
        #expect(added.status == 0 && !added.errors.contains("fuse"), "\(added)")
        #expect(try await versiongate.run("rule show k").output.contains("fuse                    12.5 %. In the last"))
        #expect(try await versiongate.run("rule show k --format json").output.contains(#""fuse":12.5"#))
        let edited = try await versiongate.run("rule edit k --fuse 7 --yes")
        #expect(edited.output.contains("fuse: 12.5 -> 7"), "\(edited.output)")
        let cleared = try await versiongate.run("rule edit k --clear fuse --yes")
        #expect(cleared.output.contains("fuse: 7 -> (none)"), "\(cleared.output)")
        let undone = try await versiongate.run("undo --yes")
        #expect(undone.output.contains("fuse: (none) -> 7"), "\(undone.output)")
        #expect(try await versiongate.run("rule copy k k2 --yes").status == 0)
        #expect(
            try await versiongate.run("rule show k2").output.contains("fuse                    7 %. It does nothing")
        )
        let blocked = try await versiongate.run("block com.example.doto 1.0 --fuse 20% --yes")
        #expect(blocked.status == 0, "\(blocked)")
        #expect(try await versiongate.run("rule show block-1.0").output.contains("fuse                    20 %. "))
    }

    @Test("A fuse that is no percentage is refused, by whatever command, and one without a lockout warns")
    func refusals() async throws {
        try await addApp()
        try await versiongate.run("\(Self.rule) --lockout")
        for value in ["0", "100.01", "33.335"] {
            for command in ["rule edit k --fuse \(value) --yes", "block com.example.doto 1.0 --fuse \(value) --yes"] {
                let result = try await versiongate.run(command)
                #expect(result.status == 1, "\(command)")
                #expect(
                    result.errors.contains("rules.fuse: \(value) is not a percentage from 0.01 to 100")
                        && result.errors.contains("nothing is rounded"),
                    "\(command): \(result.errors)"
                )
            }
        }
        for value in ["NaN", "many"] {
            let result = try await versiongate.run("rule edit k --fuse \(value) --yes")
            #expect(result.status == 64 && result.errors.contains("write a number from 0 to 100: 25 or 25%"))
        }
        let idle = try await versiongate.run("rule edit k --no-lockout --fuse 5 --yes")
        #expect(idle.status == 0)
        #expect(
            idle.errors.contains("fuse has no effect without lockout") && idle.errors.contains("Give --lockout as well")
        )
    }

    @Test("A fuse is proposed where an edit that adds a lockout shows its impact")
    func proposals() async throws {
        try await addApp()
        let proposal =
            "k has no fuse; to have it stopped at twice what is expected, give it one afterwards: versiongate rule edit k --fuse 12%"
        func flat(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        let rehearsed = try await versiongate.run(
            "\(Self.rule) --lockout --enable --dry-run".replacing(" --yes", with: "")
        )
        #expect(flat(rehearsed.output).contains(proposal), "\(rehearsed.output)")
        let added = try await versiongate.run("\(Self.rule) --lockout --enable")
        #expect(flat(added.output + added.errors).contains(proposal), "\(added)")
        try await versiongate.run("rule disable k")
        try await versiongate.run("rule edit k --fuse 3")
        let enabled = try await versiongate.run("rule enable k --yes")
        #expect(enabled.status == 0 && !(enabled.output + enabled.errors).contains("has no fuse"), "\(enabled)")
        let blocked = try await versiongate.run("block com.example.doto 2.0 --key no --dry-run")
        #expect(!(blocked.output + blocked.errors).contains("--fuse"))
    }

    @Test("A fuse goes through a policy file, and one that is no percentage is refused with its place")
    func policyFile() async throws {
        try await PolicyFileFixture.with { fixture in
            try await fixture.binary.run("app add com.example.doto")
            try await fixture.binary.run("rule add k --title T --text X --bundle com.example.doto --fuse 12.5")
            let exported = try await fixture.exported()
            #expect(exported.contains("    fuse: 12.5\n"), "\(exported)")
            let file = try fixture.write(exported)
            try await fixture.binary.run("rule edit k --clear fuse")
            let plan = try await fixture.binary.run("plan \(file)")
            #expect(plan.status == 2 && plan.output.contains("fuse: (none) -> 12.5"), "\(plan.output)")
            #expect(try await fixture.binary.run("apply --yes \(file)").status == 0)
            #expect(try await fixture.exported() == exported)
            let rounded = try fixture.write(exported.replacing("fuse: 12.5", with: "fuse: 33.335"))
            let refused = try await fixture.binary.run("plan \(rounded)")
            #expect(
                refused.status == 1 && refused.errors.contains("fuse: \"33.335\" cannot be read"),
                "\(refused.errors)"
            )
            let none = try fixture.write(exported.replacing("fuse: 12.5", with: "fuse: 0"))
            let zero = try await fixture.binary.run("apply --yes \(none)")
            #expect(
                zero.status == 1 && zero.errors.contains("0 is not a percentage from 0.01 to 100"),
                "\(zero.errors)"
            )
        }
    }

    @Test("A fuse that has blown is in status, in the rule, in the history, in metrics, and undo arms it again")
    func blown() async throws {
        try await addApp()
        try await versiongate.run("\(Self.rule) --lockout --fuse 5 --enable")
        let database = try await TestDatabase.current.connect(user: "versiongate_server")
        try await database.execute(
            "INSERT INTO lockout_counts VALUES ('k', 'com.example.doto', date_trunc('minute', now()), 1000, 20,"
                + " (SELECT revision FROM policy_revision))"
        )
        let armed = try await versiongate.run("status").output
        #expect(armed.contains("2.0 % of the 1,000 checks of com.example.doto"), "\(armed)")
        #expect(armed.contains("armed"))
        try await database.execute("UPDATE lockout_counts SET lockouts = 300; SELECT blow_fuses()")
        let change = try await TestDatabase.current.connect().query("SELECT max(id) FROM changes").value(as: Int.self)
        func flat(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        let status = flat(try await versiongate.run("status").output)
        let figures =
            "300 of 1000 checks of com.example.doto in the last 10 minutes were locked out, 30 %; its fuse is 5 %"
        #expect(status.contains("k: \(figures). To arm it again: versiongate undo \(change)"), "\(status)")
        let json = try await versiongate.run("status --format json").output
        #expect(json.contains(#""status":"blown""#) && json.contains(#""change":\#(change)"#), "\(json)")
        let shown = flat(try await versiongate.run("rule show k").output)
        #expect(shown.contains("fuse 5 %. It has blown at ") && shown.contains(figures), "\(shown)")
        let address = TestDatabase.current.url(user: "versiongate_admin")
        let inBerlin = BuiltBinary(environment: ["DATABASE_URL": address, "TZ": BuiltBinary.centralEurope])
        let local = flat(try await inBerlin.run("rule show k").output)
        #expect(local.contains(#/It has blown at \S+T\S+\+0[12]:00, by change/#) && !local.contains("UTC"), "\(local)")
        let history = try await versiongate.run("history --limit 1").output
        #expect(history.contains("lockout: true -> false") && history.contains("fuse"), "\(history)")

        let undone = try await versiongate.run("undo \(change) --yes")
        #expect(undone.status == 0 && undone.output.contains("lockout: false -> true"), "\(undone)")
        #expect(try await versiongate.run("rule show k").output.contains("5 %. In the last 10 minutes"))
    }
}
