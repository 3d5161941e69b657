import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Users", .whole, .timeLimit(.minutes(20)))
struct UserCommandTests {
    /// A server to which users log in by password, and the command line of its superuser.
    private static func with(_ body: (OwnServer, BuiltBinary) async throws -> Void) async throws {
        try await OwnServer.with(isMigrated: true, listensOnLoopback: true) { server in
            try await body(server, BuiltBinary(environment: ["DATABASE_URL": server.url()]))
        }
    }

    /// The command line of a user.
    private static func login(_ name: String, _ password: String, _ server: OwnServer) -> BuiltBinary {
        BuiltBinary(environment: [
            "DATABASE_URL": "postgresql://\(name):\(password)@127.0.0.1:\(server.port)/versiongate"
        ])
    }

    /// Adds a user with a password that is made, and logs in.
    private static func add(
        _ name: String,
        _ role: String,
        _ server: OwnServer,
        _ owner: BuiltBinary
    ) async throws -> BuiltBinary {
        let added = try await owner.succeed("user add \(name) --role \(role) --generate-password")
        let line = try #require(
            added.split(separator: "\n").first { $0.hasPrefix("Password, shown this once: ") }
        )
        let password = try #require(line.split(separator: " ").last)
        #expect(password.count == 26)
        return login(name, String(password), server)
    }

    /// Every command that shows something.
    static let readings = [
        "app list", "app show a", "release list --bundle a", "rule list", "rule show k",
        "check --explain bundle=a version=1.1",
        "check --revision 1 bundle=a", "history", "export", "export --bundle a", "impact k", "stats a",
        "migrate --status",
        "user list", "database url",
    ]

    @Test(
        "Users do what their role is for: a viewer reads all, a planner also plans, an admin edits under the own name"
    )
    func haveRoles() async throws {
        try await Self.with { server, owner in
            let admin = try await Self.add("anna", "admin", server, owner)
            let planner = try await Self.add("paul", "planner", server, owner)
            let viewer = try await Self.add("vera", "viewer", server, owner)
            let brake = try await Self.add("bea", "brake", server, owner)
            for line in [
                "app add a --yes", "release add a 1.2 --platform ios --live-at 2026-03-01T12:00:00Z --yes",
                "rule add k --bundle a --title T --text X --versions <1.2 --enable --yes",
            ] { try await admin.succeed(line) }
            let connection = try await server.connect()
            try await connection.execute(
                "INSERT INTO check_counts VALUES (now(), 'a', 'ios', '1.1', NULL, NULL, NULL, 9, 9, 0)"
            )
            #expect(
                try await connection.query("SELECT string_agg(DISTINCT role, ' ') FROM changes").value(as: String.self)
                    == "anna"
            )
            await connection.close()
            let inBerlin = BuiltBinary(environment: owner.variables.merging(["TZ": BuiltBinary.centralEurope]) { $1 })
            let list = try await inBerlin.run("user list").output
            #expect(list.contains(#/anna +admin +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[12]:00\n/#), "\(list)")

            for person in [viewer, brake, planner, admin] {
                for line in Self.readings { try await person.succeed(line) }
            }

            let edited = try await owner.run("export").output.replacing("title: T", with: "title: U")
            let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml").path
            try edited.write(toFile: file, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: file) }
            let refused = try await viewer.run("plan \(file)")
            #expect(refused.status == 1 && refused.errors.contains("permission denied for table rules; log in as"))
            for person in [planner, admin] {
                let planned = try await person.run("plan \(file)")
                #expect(planned.status == 2 && planned.output.contains("title: T -> U"), "\(planned.errors)")
                let tried = try await person.succeed("rule disable k --dry-run")
                #expect(tried.contains("enabled: true -> false"))
                #expect(tried.contains("changed on 127.0.0.1:\(server.port)/versiongate: this was a dry run."))
                #expect(try await person.succeed("rule rollout k 20 --dry-run").contains("\nImpact: "))
            }
            for line in [
                "apply \(file) --yes", "rule disable k --yes", "rule edit k --note n", "undo 1 --yes", "app remove a",
            ] {
                let made = try await planner.run(line)
                #expect(made.status == 1, "\(line)")
                #expect(made.errors.contains("paul may plan edits but not make them"), "\(line): \(made.errors)")
                #expect(made.errors.contains("add --dry-run, or versiongate plan FILE"), "\(line): \(made.errors)")
                #expect(!made.errors.contains("SELECT"), "\(line): \(made.errors)")
            }
            #expect(try await owner.run("export").output.contains("title: T"))
            try await admin.succeed("apply \(file) --yes")
        }
    }

    @Test(
        "Users are asked for on a terminal, twice and without an echo, and a second answer that differs changes nothing"
    )
    func haveSecretPasswords() async throws {
        try await Self.with { server, owner in
            let superuser = try await server.connect()
            try await superuser.execute("ALTER SYSTEM SET log_statement = 'all'")
            try await superuser.query("SELECT pg_reload_conf()")
            let terminal = try await TerminalSession(owner)
            defer { terminal.end() }
            func add(_ first: String, _ second: String?, _ end: String) async throws {
                try terminal.type(
                    "stty echo; versiongate user add anna --role viewer; stty -a | grep -ow -e -echo -e echo; stty -echo\n"
                )
                try await terminal.expect("Password of anna: ")
                try terminal.type(first)
                var shown = ""
                if let second {
                    shown += try await terminal.expect("Again: ")
                    try terminal.type(second)
                }
                shown += try await terminal.expect(end)
                try await terminal.expect("\necho\n")
                shown += try await terminal.expect(TerminalSession.prompt)
                #expect(!shown.contains("geheim"), "\(shown)")
            }
            try await add("geheim 1234\n", "geheim 1235\n", "Error: the two passwords differ; nothing was changed")
            try await add("geheim\n", nil, "Error: the password has fewer than 8 characters; nothing was changed")
            try await add("geheim 12\u{3}", nil, "Error: cancelled; nothing was changed")
            try await add("geheim 12345\u{7F}\n", "geheim 1234\n", "Added user anna, viewer.")
            let login = Self.login("anna", "geheim%201234", server)
            try await login.succeed("rule list")
            let folder = try await superuser.query("SHOW data_directory").value(as: String.self)
            let log = try String(contentsOfFile: "\(folder)/../server.log", encoding: .utf8)
            #expect(log.contains("ALTER ROLE \"anna\" PASSWORD 'SCRAM-SHA-256$"))
            #expect(!log.contains("geheim"))
        }
    }

    @Test("Users who exist get the role and keep the password, and those who are removed do nothing more")
    func change() async throws {
        try await Self.with { server, owner in
            let anna = try await Self.add("anna", "viewer", server, owner)
            #expect(
                try await owner.run("user add anna --role admin").output
                    == "User anna was viewer and is admin now; the password is unchanged.\n"
            )
            try await anna.succeed("app add a")
            #expect(
                try await owner.run("user add anna --role admin").output
                    == "User anna is admin as before; the password is unchanged.\n"
            )
            let list = try await owner.run("user list").output.split(separator: "\n")
            #expect(list.count == 2)
            #expect(list[1].hasPrefix("anna  admin  20"))
            #expect(
                try await owner.run("user list --format json").output.contains(
                    #""name":"anna","role":"admin","last_edit":"20"#
                )
            )

            let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
            try "brand new password\nrest\n".write(toFile: file, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: file) }
            let renewed = try await owner.shell(
                "$VERSIONGATE user add anna --role viewer --password-file <(cat \(file))"
            )
            #expect(renewed.output == "User anna was admin and is viewer now; the password is new.\n")
            #expect(try await anna.run("rule list").errors.contains("password authentication failed"))
            let again = Self.login("anna", "brand%20new%20password", server)
            try await again.succeed("app list")
            #expect(try await again.run("app add b").status == 1)

            let session = try await PostgresConnection.connect(
                PostgresConfiguration(connectionString: again.variables["DATABASE_URL"] ?? ""),
                logger: TestDatabase.logger
            )
            try await session.execute("SELECT FROM rules")
            let unasked = try await owner.run("user remove anna")
            #expect(unasked.status == 1)
            #expect(unasked.errors.contains("this removes the user anna (viewer); nothing was changed on "))
            let removed = try await owner.run("user remove anna --yes")
            #expect(removed.output.hasPrefix("Removed user anna from "), "\(removed.errors)")
            let late = await #expect(throws: PostgresError.self) { try await session.execute("SELECT FROM rules") }
            #expect(late?.message == "permission denied for table rules")
            await session.close()
            #expect(
                try await owner.run("user list").output
                    == "No users. Add one: versiongate user add NAME --role viewer\n"
            )
            #expect(try await owner.run("history").output.contains("anna"))
        }
    }

    @Test("Users are refused with what to do where one cannot be made or removed")
    func areRefused() async throws {
        try await Self.with { server, owner in
            let superuser = try await server.connect()
            try await superuser.execute(
                """
                CREATE ROLE team NOLOGIN IN ROLE versiongate_admin; CREATE ROLE carl LOGIN IN ROLE team;
                CREATE ROLE dora LOGIN IN ROLE versiongate_viewer; CREATE SCHEMA hers AUTHORIZATION dora;
                """
            )
            let anna = try await Self.add("anna", "admin", server, owner)
            let long = String(repeating: "x", count: 64)
            let refusals = [
                (owner, "add x --role viewer", 1, "is no terminal to ask for a password on; use --password-file FILE"),
                (owner, "add x --role viewer --no-password --generate-password", 64, "Use one of --password-file"),
                (owner, "add x --role viewer --password-file /nowhere", 1, "/nowhere cannot be read: No such file"),
                (owner, "add x --role viewer --password-file /dev/null", 1, "in /dev/null has fewer than 8"),
                (owner, "add versiongate_admin --role viewer", 1, "is one of versiongate's own roles"),
                (owner, "add versiongate --role viewer", 1, "versiongate is a superuser, the owner of the schema"),
                (owner, "add team --role viewer", 1, "nobody can log in with it; choose another name"),
                (owner, "add carl --role viewer", 1, "carl has the rights of versiongate_admin by another role"),
                (owner, "add \(long) --role viewer --no-password", 1, "the name of a user has 1 to 63 bytes"),
                (owner, "remove dora --yes", 1, "owns something or has rights elsewhere, so it cannot be removed"),
                (anna, "add x --role viewer --no-password", 1, #"CREATE ROLE "x" LOGIN; GRANT versiongate_viewer TO"#),
                (anna, "remove dora --yes", 1, #"or let one run: DROP ROLE "dora";"#),
            ]
            for (binary, line, status, message) in refusals {
                let result = try await binary.run("user \(line)")
                #expect(result.status == status, "\(line): \(result.errors)")
                #expect(result.errors.contains(message), "\(line): \(result.errors)")
            }
            #expect(
                try await superuser.query("SELECT count(*) FROM pg_roles WHERE rolname ~ '^x'").value(as: Int.self) == 0
            )
            let groups = "SELECT roleid::regrole::text FROM pg_auth_members WHERE member = 'carl'::regrole"
            #expect(try await superuser.query(groups).value(as: String.self) == "team")
        }
    }

    @Test("Users made by the SQL of Install.md, by that of a refusal, and by the command have the same settings")
    func haveTheSameSettings() async throws {
        try await Self.with { server, owner in
            let superuser = try await server.connect()
            let block = try #require(
                try MarkdownBlock.all(in: "Documentation/Install.md").first {
                    $0.text.contains("CREATE ROLE anna LOGIN;")
                }
            )
            let sql = block.text.split(separator: "\n").filter { !$0.hasPrefix("\\password") }.joined(separator: "\n")
            try await superuser.execute(sql)
            let vera = try await Self.add("vera", "viewer", server, owner)
            let refused = try await vera.run("user add nina --role admin --no-password")
            let statements = try #require(refused.errors.firstRange(of: "or let one run: "), "\(refused.errors)")
            try await superuser.execute(String(refused.errors[statements.upperBound...]))
            _ = try await Self.add("otto", "admin", server, owner)
            let settings = try await superuser.query(
                "SELECT DISTINCT rolconfig::text FROM pg_roles WHERE rolname IN ('anna', 'nina', 'otto')"
            ).map { try $0.decode(0, as: String.self) }
            #expect(settings.count == 1 && settings[0].contains("DateStyle=ISO, YMD"), "\(settings)")
            try await superuser.execute("ALTER ROLE anna PASSWORD 'a'")
            let psql = try await Self.login("anna", "a", server).run(
                arguments: ["database", "psql", "--", "--command", "SELECT '12/11/2026'::timestamptz"]
            )
            #expect(psql.errors.contains("date/time field value out of range"), "\(psql)")
            await superuser.close()
        }
    }

    @Test("A server goes on while its password changes, and logs in with a second login that has its rights")
    func serverPassword() async throws {
        try await Self.with { server, owner in
            let superuser = try await server.connect()
            try await superuser.execute(
                """
                ALTER ROLE versiongate_server PASSWORD 'old'; CREATE ROLE versiongate_server_2 LOGIN PASSWORD 'two';
                GRANT versiongate_server TO versiongate_server_2
                """
            )
            let rule = "--bundle a --title T --text X --enable --yes"
            let check = #"{"bundle":"a","version":"1"}"#
            try await ServingBinary.run(Self.login("versiongate_server", "old", server)) { serving in
                try await superuser.execute("ALTER ROLE versiongate_server PASSWORD 'new'")
                for line in ["app add a", "rule add first \(rule)"] { #expect(try await owner.run(line).status == 0) }
                try await serving.check(check) { $0.contains("first") }
                try await superuser.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'versiongate_server'"
                )
                _ = try await serving.ready { $0.contains("password authentication failed") }
                #expect(try await serving.check(check).contains("first"))
            }
            let second = Self.login("versiongate_server_2", "two", server)
            try await ServingBinary.run(second, arguments: ["--count-interval", "1"]) { serving in
                try await serving.check(check) { $0.contains("first") }
                try await owner.succeed("rule add second \(rule)")
                try await serving.check(check) { $0.contains("second") }
                try await Poll.until("counts by the second login") {
                    try await superuser.query("SELECT count(*) FROM check_counts").value(as: Int.self) > 0
                }
            }
            try await owner.succeed("migrate --status")
            await superuser.close()
        }
    }

    @Test("Users who may create roles and own the schema add users without being superusers")
    func areMadeByTheOwner() async throws {
        try await OwnServer.with { server in
            let superuser = try await server.connect()
            try await superuser.execute(
                "CREATE ROLE test_alice LOGIN CREATEROLE; ALTER DATABASE versiongate OWNER TO test_alice"
            )
            let owner = BuiltBinary(environment: ["DATABASE_URL": server.url(user: "test_alice")])
            try #require(try await owner.run("migrate").status == 0)
            let added = try await owner.run("user add test_bob --role planner --no-password")
            #expect(added.status == 0, "\(added.errors)")
            #expect(
                added.output.hasPrefix("Added user test_bob, planner, without a password.\nTo log in: DATABASE_URL=")
            )
            let address = try #require(
                added.output.split(separator: "\n").last?.dropFirst("To log in: DATABASE_URL=".count)
            )
            let login = try await BuiltBinary(environment: [:]).shell(
                "DATABASE_URL=\(address); printf %s \"$DATABASE_URL\""
            )
            #expect(login.output.hasPrefix("postgresql://test_bob@"), "\(address)")
            let planner = BuiltBinary(environment: ["DATABASE_URL": login.output])
            #expect(try await planner.run("app add a --dry-run").output.contains("+ app a\n"))
            #expect(try await planner.run("app add a").status == 1)
            try await owner.succeed("user remove test_bob --yes")
            await superuser.close()
        }
    }
}
