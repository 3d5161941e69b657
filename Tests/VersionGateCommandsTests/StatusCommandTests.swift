import Foundation
import Postgres
import TestDatabase
import TestSystem
import Testing

@Suite("Status", .migratedDatabase, .timeLimit(.minutes(20)))
struct StatusCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private struct Status: Decodable {
        let role: String
        let standby: Bool
        let revision: Int?
        let servers: [Server]
        let goneServers: [GoneServer]
        let lockouts: [Lockout]?
        let upcoming: [Event]?
        let pausedApps: [String]?
        let lastChange: Change?
        let unknownChecks: Range?
        let hidden: [String]
        let faults: [String]

        struct Server: Decodable {
            let address: String
            let revision: Int
        }
        struct GoneServer: Decodable {
            let name: String
        }
        struct Lockout: Decodable {
            let key: String
            let status: String
            let reason: String?
            let who: String
            let lockedOut: Int?
            let checks: Int?
        }
        struct Event: Decodable {
            let kind: String
            let name: String
            let rollout: Double?
        }
        struct Change: Decodable {
            let id: Int
            let summary: String
        }
        struct Range: Decodable {
            let atLeast: Int
            let atMost: Int
        }
    }

    private func status(_ binary: BuiltBinary) async throws -> Status {
        let result = try await binary.run("status --format json")
        try #require(result.status == 0, "\(result.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Status.self, from: Data(result.output.utf8))
    }

    private func prepare() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle, paused) VALUES ('a', false), ('p', true);
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2', '2026-01-01Z'),
                ('a', 'ios', '3', now() + interval '3 hours'), ('a', 'ios', '4', now() + interval '3 days'),
                ('p', 'ios', '2', '2026-01-01Z');
            INSERT INTO rules (key, bundle, enabled, lockout, versions, builds, title, text, starts_at, ends_at) VALUES
                ('lock', 'a', true, true, '<2', '=7', 't', 'x', NULL, now() + interval '2 hours'),
                ('paused', 'p', true, true, '<2', NULL, 't', 'x', NULL, NULL),
                ('off', 'a', false, true, '<2', NULL, 't', 'x', now() + interval '1 hour', NULL),
                ('over', 'a', true, true, '<2', NULL, 't', 'x', NULL, '2026-01-01Z'),
                ('message', 'a', true, false, '<2', NULL, 't', 'x', now() + interval '1 hour', NULL);
            INSERT INTO rollout_steps VALUES ('message', now() + interval '4 hours', 12.5)
            """
        )
        try await TestDatabase.current.addCounts(
            """
            (date_trunc('hour', now()), 'a', 'ios', '1', 300, 100, 90), (date_trunc('hour', now()), NULL, NULL, NULL, 50, 0, 0),
            (date_trunc('hour', now()) - interval '1 hour', 'a', 'ios', '2', 100, 0, 0),
            (date_trunc('hour', now()) - interval '2 hours', 'a', 'ios', '2', 5000, 0, 0)
            """
        )
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        try await server.execute(
            """
            INSERT INTO lockout_counts VALUES ('lock', 'a', now(), 300, 80, 1),
                ('lock', 'a', now() - interval '9 minutes', 100, 20, 1),
                ('lock', 'a', now() - interval '11 minutes', 500, 500, 1);
            INSERT INTO merged_counts VALUES (date_trunc('hour', now()), 'a', 20);
            """
        )
        await server.close()
    }

    @Test(
        "The status has lockouts with their share, what comes in a day, paused apps, the last change and unknown apps"
    )
    func shows() async throws {
        try await prepare()
        let status = try await status(versiongate)
        #expect(status.role == "versiongate_admin" && !status.standby && status.revision == 1)
        #expect(status.servers.isEmpty && status.hidden.isEmpty)
        #expect(status.lockouts?.map(\.key) == ["lock", "paused"])
        #expect(status.lockouts?.first?.who == "<2, build 7")
        #expect(status.lockouts?.first?.status == "on")
        #expect(status.lockouts?.first?.lockedOut == 100)
        #expect(status.lockouts?.first?.checks == 400)
        #expect(status.lockouts?.last?.status == "paused")
        #expect(status.lockouts?.last?.reason == "p is paused")
        #expect(
            status.upcoming?.map { "\($0.kind) \($0.name)" } == [
                "rule starts message", "rule ends lock", "release live a 3 ios", "rollout step message",
            ]
        )
        #expect(status.upcoming?.last?.rollout == 12.5)
        #expect(status.pausedApps == ["p"])
        #expect(status.lastChange?.id == 1)
        #expect(
            status.lastChange?.summary == "added 2 apps, 4 releases, 5 rules, rollout step message \(try await step())"
        )
        #expect(status.unknownChecks?.atLeast == 30)
        #expect(status.unknownChecks?.atMost == 50)
        let text = try await versiongate.run("status").output
        for line in [
            ", as versiongate_admin\n", "revision     1\n", "none is connected to this database", "25.0 % of 400",
            "25.0 % of 400  lock    on", "p: <2 (p is paused)", "rule lock ends\n", "rule message goes to 12.5 %\n",
            "release a 3 ios goes live\n", "Paused apps: p\n", "Unknown apps: 30 to 50 checks since ",
            "The page /unknowns of each server lists them since its start.",
        ] {
            #expect(text.contains(line), "\(line): \(text)")
        }
    }

    private func step() async throws -> String {
        try await TestDatabase.current.psql(
            """
            SELECT to_char((after ->> 'at')::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            FROM change_rows WHERE table_name = 'rollout_steps'
            """
        ).output.trimmingCharacters(in: .newlines)
    }

    @Test("The status of an empty policy says what there is not")
    func isEmpty() async throws {
        let text = try await versiongate.run("status").output
        for line in [
            "revision     0\n", "last change  none\n", "No lockout is enabled.\n",
            "Nothing begins or ends in the next 24 hours.\n", "No app is paused.\n",
        ] {
            #expect(text.contains(line), "\(line): \(text)")
        }
        #expect(!text.contains("Unknown apps"))
    }

    @Test("The status names the apps that have more rules and releases than a feed is made of")
    func namesLargeApps() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle) VALUES ('large'), ('small');
            INSERT INTO releases (bundle, platform, version) VALUES ('large', 'ios', '9');
            INSERT INTO rules (key, bundle, enabled, versions, title, text)
                SELECT 'rule-' || number, 'large', true, '<1.' || number, 't', 'x' FROM generate_series(1, 2000) AS number
            """
        )
        let sentence = "the rules and releases of an app count more than 2000 together"
        let faults = try await status(versiongate).faults
        #expect(faults.map { $0.hasPrefix(sentence) && $0.contains(": large.") } == [true], "\(faults)")
        let text = try await versiongate.run("status").output.replacing("\n", with: " ")
        #expect(text.contains("Warning: \(sentence)"), "\(text)")
        try await TestDatabase.current.edit("UPDATE rules SET enabled = false WHERE key = 'rule-1'")
        #expect(try await status(versiongate).faults == [])
    }

    @Test("The status needs few rights, and says what it cannot see")
    func needsFewRights() async throws {
        try await prepare()
        let server = BuiltBinary(environment: [
            "DATABASE_URL": TestDatabase.current.url(user: "versiongate_server")
        ])
        let seen = try await status(server)
        #expect(seen.role == "versiongate_server" && seen.hidden == ["history"])
        #expect(seen.lastChange == nil && seen.lockouts?.count == 2 && seen.unknownChecks != nil)
        let text = try await server.run("status").output
        #expect(
            text.hasSuffix("versiongate_server may not read the history; log in as a viewer or an admin to see it.\n"),
            "\(text)"
        )
        try await TestDatabase.current.connect().execute(
            """
            REVOKE SELECT ON ALL TABLES IN SCHEMA public FROM versiongate_server;
            """
        )
        let blind = try await status(server)
        #expect(blind.hidden == ["policy", "counts", "history"])
        #expect(blind.revision == nil && blind.lockouts == nil && blind.upcoming == nil && blind.pausedApps == nil)
        #expect(blind.unknownChecks == nil)
    }

    @Test("The status has the lockouts with the largest share first, and all lines in order at 80 columns")
    func ranksLockouts() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle) VALUES ('com.example.shop');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('com.example.shop', 'ios', '3', '2026-01-01Z');
            INSERT INTO rules (key, bundle, enabled, lockout, versions, platforms, regions, title, text) VALUES
                ('a-minimum', 'com.example.shop', true, true, '<2', '{ios}', '{DE,AT}', 't', 'x'),
                ('z-block', 'com.example.shop', true, true, '=2.1', NULL, NULL, 't', 'x')
            """
        )
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        try await server.execute(
            """
            INSERT INTO lockout_counts VALUES ('z-block', 'com.example.shop', now(), 1000, 390, 1),
                ('a-minimum', 'com.example.shop', now(), 1000, 10, 1)
            """
        )
        await server.close()
        let terminal = try await TerminalSession(BuiltBinary(.current))
        defer { terminal.end() }
        _ = try await terminal.run("stty cols 80")
        let lines = try await terminal.run("versiongate status").output.split(separator: "\n")
        let head = try #require(lines.firstIndex { $0.hasPrefix("LOCKED OUT") })
        let rows = lines[head...].filter { !$0.hasPrefix(" ") }.prefix(3).map {
            $0.replacing(#/[0-9]+ s ago/#, with: "now")
        }
        for (row, beginning) in zip(
            rows,
            [
                "LOCKED OUT       RULE       STATUS  SINCE", "39.0 % of 1,000  z-block    on      change 1, now  com.",
                "1.0 % of 1,000   a-minimum  on      change 1, now  com.",
            ]
        ) {
            #expect(row.hasPrefix(beginning), "\(lines)")
        }
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines)")
        let list = try await terminal.run("versiongate rule list").output
        #expect(list.contains("a-minimum  on      yes      com.example.shop  <2, iOS, DE and AT"), "\(list)")
    }

    @Test("The status and `migrate --status` name the rights that servers lack, and a session that has not committed")
    func namesFaults() async throws {
        try await versiongate.run("app add a")
        let owner = try await TestDatabase.current.connect()
        try await owner.execute("REVOKE SELECT ON rules FROM versiongate_server")
        let psql = try PsqlSession(.current)
        try psql.run("BEGIN; UPDATE apps SET note = 'Open'; SET CONSTRAINTS ALL IMMEDIATE;")
        let text = try await versiongate.run("status").output
        #expect(
            text.contains(
                "Warning: the role versiongate_server may not read rules, so servers load no policy. Let the owner of the"
                    + " tables run: GRANT SELECT ON rules TO versiongate_server;\n"
            ),
            "\(text)"
        )
        #expect(
            text.contains(/open edits +process [0-9]+ of versiongate_admin \(psql\) has edited and not committed\n/)
        )
        let owned = BuiltBinary(environment: ["DATABASE_URL": TestDatabase.current.url()])
        #expect(
            try await owned.run("migrate --status").errors.contains("may not read rules, so servers load no policy")
        )
        try psql.run("ROLLBACK;")
        try psql.end()
    }

    @Test("The status lists the servers with the revision that answers, and follows them through edits")
    func listsServers() async throws {
        try await versiongate.run("app add a")
        let server = BuiltBinary(environment: ["DATABASE_URL": TestDatabase.current.url(user: "versiongate_server")])
        try await ServingBinary.run(server) { serving in
            for revision in 1...2 {
                try await Poll.until("a server at revision \(revision)") {
                    try await status(versiongate).servers.map(\.revision) == [revision]
                }
                let port = try #require(serving.publicURL.split(separator: ":").last)
                try await Poll.until("the address of the server") {
                    try await status(versiongate).servers.allSatisfy { $0.address.hasSuffix(":\(port)") }
                }
                let text = try await versiongate.run("status").output
                #expect(text.contains(":\(port) at revision \(revision) (process "), "\(text)")
                try await versiongate.run("app edit a --name A\(revision)")
            }
            // What a server that has not taken the last edits shows.
            let forged = try await TestDatabase.current.connect(user: "versiongate_server")
            try await forged.execute("SET application_name = 'versiongate serve at revision 1 on z-late'")
            let text = try await versiongate.run("status").output
            #expect(text.contains("z-late at revision 1, 2 behind (process "), "\(text)")
            await forged.close()
        }
        try await Poll.until("no server") { try await status(versiongate).servers.isEmpty }
    }

    @Test("The status and the overview list servers that were there and are gone, and not those that are there")
    func listsGoneServers() async throws {
        try await versiongate.run("app add a")
        let owner = try await TestDatabase.current.connect()
        let server = BuiltBinary(environment: ["DATABASE_URL": TestDatabase.current.url(user: "versiongate_server")])
        let counting = ["--count-interval", "1"]
        try await ServingBinary.run(server, arguments: counting) { staying in
            try await ServingBinary.run(server, arguments: counting) { going in
                for serving in [staying, going] {
                    let port = try #require(serving.publicURL.split(separator: ":").last)
                    try await Poll.until("the server is noted") {
                        try await owner.query(
                            "SELECT count(*) = 1 FROM versiongate_internal.server_sightings WHERE revision = 1 AND name LIKE $1",
                            ["%:\(port)"]
                        ).value(as: Bool.self)
                    }
                }
                kill(going.processIdentifier, SIGKILL)
            }
            // In place of five minutes.
            try await owner.execute(
                "UPDATE versiongate_internal.server_sightings SET seen_at = now() - interval '5 minutes'"
            )
            try await Poll.until("one is gone") { try await status(versiongate).goneServers.count == 1 }
            let found = try await status(versiongate)
            #expect(found.servers.map(\.revision) == [1])
            #expect(found.goneServers[0].name != found.servers[0].address)
            let line = try await versiongate.run("status").output
            #expect(
                line.contains(/gone servers +[!-~]+:[0-9]+(, at [0-9.:]+,)? had revision 1, heard of last 5 min ago/),
                "\(line)"
            )
            let page = try await staying.management("/").body
            #expect(
                page.contains("\(found.goneServers[0].name)</th>") && page.contains("gone; heard of last 5 min ago")
            )
        }
        try await owner.execute(
            "UPDATE versiongate_internal.server_sightings SET seen_at = now() - interval '61 minutes'"
        )
        #expect(try await status(versiongate).goneServers.isEmpty)
    }

    @Test("A server can note that it is there and no more; a thousand are kept, for a day")
    func boundsServers() async throws {
        let owner = try await TestDatabase.current.connect()
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        try await owner.execute(
            """
            INSERT INTO versiongate_internal.server_sightings SELECT 'old:' || n, NULL, 1, now() - interval '25 hours' FROM generate_series(1, 3) n;
            INSERT INTO versiongate_internal.server_sightings SELECT 'm:' || n, NULL, 1, now() - n * interval '1 s' FROM generate_series(1, 1000) n
            """
        )
        try await server.execute(
            "SELECT versiongate_internal.note_server('new:1', 7); SELECT versiongate_internal.note_server('new:1', 8)"
        )
        let names = try await owner.query(
            "SELECT concat(count(*), ' ', bool_or(name = 'm:999'), ' ', bool_or(name = 'm:1000'), ' ',"
                + " max(revision) FILTER (WHERE name = 'new:1')) FROM versiongate_internal.server_sightings"
        )
        #expect(try names.value(as: String.self) == "1000 t f 8")
        for name in ["", "a b", "ü", String(repeating: "x", count: 129)] {
            await #expect(throws: PostgresError.self) {
                try await server.query("SELECT versiongate_internal.note_server($1, 1)", [name])
            }
        }
        await #expect(throws: PostgresError.self) {
            try await server.execute("DELETE FROM versiongate_internal.server_sightings")
        }
        let viewer = try await TestDatabase.current.connect(user: "versiongate_viewer")
        await #expect(throws: PostgresError.self) {
            try await viewer.execute("SELECT versiongate_internal.note_server('x', 1)")
        }
    }

    /// What the sessions of the server call themselves.
    private func serverNames() async throws -> [String] {
        try await TestDatabase.current.psql(
            """
            SELECT DISTINCT application_name FROM pg_stat_activity
            WHERE datname = current_database() AND usename = 'versiongate_server' ORDER BY 1
            """
        ).output.split(separator: "\n").map(String.init)
    }

    @Test("The status knows a server by the name that its address gives its sessions, too")
    func keepsNames() async throws {
        try await versiongate.run("app add a")
        let url = TestDatabase.current.url(user: "versiongate_server")
        let server = BuiltBinary(environment: ["DATABASE_URL": "\(url)&application_name=gate-of-tests-in-Berlin"])
        try await ServingBinary.run(server, arguments: ["--count-interval", "0"]) { _ in
            try await Poll.until("a server at revision 1") {
                try await status(versiongate).servers.map(\.revision) == [1]
            }
            #expect(try await serverNames().first?.hasPrefix("gate-of-tests-in-Ber at revision 1 on ") == true)
        }
    }

    @Test(
        "The status lists no server behind a pooler, whose sessions others use as well",
        .enabled(if: PgBouncer.program != nil, "pgbouncer is not installed")
    )
    func behindPooler() async throws {
        try await versiongate.run("app add a")
        try await PgBouncer.with(.current) { bouncer in
            let server = BuiltBinary(environment: ["DATABASE_URL": bouncer.url(user: "versiongate_server")])
            try await ServingBinary.run(server, arguments: ["--count-interval", "0"]) { serving in
                _ = try await serving.ready { $0.contains(#""revision":1"#) }
                try await versiongate.run("rule add k --bundle a --title T --text X --enable")
                try await serving.check(#"{"bundle":"a"}"#) { $0.contains(#""id":"k""#) }
                #expect(try await status(versiongate).servers.isEmpty)
                #expect(try await serverNames().allSatisfy { !$0.contains("revision") })
            }
        }
    }
}
