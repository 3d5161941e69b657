import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Backup", .whole)
struct BackupTests {
    /// A PostgreSQL of the test's own with versiongate's schema, as its superuser.
    private func withServer(_ body: (OwnServer, DatabaseScript) async throws -> Void) async throws {
        try await OwnServer.with(isMigrated: true) { server in
            try await body(server, DatabaseScript(databaseURL: server.url()))
        }
    }

    /// Runs statements as a role, in the database that is versiongate's own.
    private func execute(_ sql: String, on server: OwnServer, user: String) async throws {
        let connection = try await server.connect(user: user)
        try await connection.execute(sql)
        await connection.close()
    }

    @Test("A server answers all the while by what it has, by the backup once it took the place, and by edits after it")
    func restoresUnderAServer() async throws {
        try await withServer { postgres, script in
            try await StateFolder.with { folder in
                let binary = BuiltBinary(environment: ["DATABASE_URL": postgres.url(user: "versiongate_server")])
                try await ServingBinary.run(binary) { server in
                    try await execute(UpdateRule.rows, on: postgres, user: "versiongate_admin")
                    try await server.check(UpdateRule.client) { $0.contains("1.2 is there") }
                    let count = try await SteadyChecks.at([server.publicURL]) {
                        let backup = try await script.run("backup", "\(folder.path)/backup")
                        #expect(backup.status == 0, "\(backup.errors)")
                        #expect(backup.output.hasPrefix("Backed up revision 1 into"))

                        try await edit("after the backup", on: postgres, seenOn: server)
                        let restore = try await script.run("restore", "\(folder.path)/backup", "restored")
                        #expect(restore.status == 0, "\(restore.errors)")
                        #expect(restore.errors.isEmpty)
                        #expect(
                            restore.output.contains("Restored revision 1 into restored, which belongs to versiongate.")
                        )
                        #expect(restore.output.contains(/0019_roles +applied/))
                        let before = try await server.check(UpdateRule.client)
                        #expect(before.contains("after the backup"))

                        let swap = try await script.run("swap", "versiongate", "restored")
                        #expect(swap.status == 0, "\(swap.errors)")
                        try await server.check(UpdateRule.client) { $0.contains("1.2 is there") }
                        try await edit("after the restore", on: postgres, seenOn: server)

                        let back = try await script.run("swap", "versiongate", "restored")
                        #expect(back.status == 0, "\(back.errors)")
                        try await server.check(UpdateRule.client) { $0.contains("after the backup") }
                        try await edit("after the way back", on: postgres, seenOn: server)
                    }
                    #expect(count.failures.isEmpty, "of \(count.sent) checks")
                }
            }
        }
    }

    private func edit(_ text: String, on postgres: OwnServer, seenOn server: ServingBinary) async throws {
        try await execute("UPDATE rules SET text = '\(text)'", on: postgres, user: "versiongate_admin")
        try await server.check(UpdateRule.client) { $0.contains(text) }
    }

    @Test(
        "A server on a standby follows the database that took the place once its connection is ended as the script says"
    )
    func swapsUnderAStandby() async throws {
        try await withServer { primary, script in
            try await execute(UpdateRule.rows, on: primary, user: "versiongate_admin")
            try await StateFolder.with { folder in
                let backup = try await script.run("backup", "\(folder.path)/backup")
                try #require(backup.status == 0, "\(backup.errors)")
                let restore = try await script.run("restore", "\(folder.path)/backup", "restored")
                try #require(restore.status == 0, "\(restore.errors)")
                try await StandbyServer.with(of: primary) { standby in
                    let address = standby.configuration(user: "versiongate_server").connectionString
                    try await ServingBinary.run(BuiltBinary(environment: ["DATABASE_URL": address])) { server in
                        try await server.check(UpdateRule.client) { $0.contains("1.2 is there") }
                        let swap = try await script.run("swap", "versiongate", "restored")
                        try #require(swap.status == 0, "\(swap.errors)")
                        try await execute("UPDATE rules SET text = 'swapped'", on: primary, user: "versiongate_admin")
                        let statement = try #require(swap.output.firstMatch(of: /\n  (SELECT pg_terminate_backend.+);/))
                        let connection = try await standby.connect()
                        let count = "SELECT count(*) FROM (\(statement.output.1)) AS ended"
                        // Nothing is ended before the standby has replayed the new names.
                        try await Poll.until("the connection on the standby to end") {
                            try await connection.query(count).value(as: Int64.self) > 0
                        }
                        await connection.close()
                        try await server.check(UpdateRule.client) { $0.contains("swapped") }
                    }
                }
            }
        }
    }

    @Test("A new cluster gets the roles with their members, settings and passwords, whatever large objects there are")
    func restoresIntoANewCluster() async throws {
        try await withServer { old, script in
            try await execute(UpdateRule.rows, on: old, user: "versiongate_admin")
            // Where a superuser migrated, large objects are for those alone whom somebody lets make them.
            try await execute(
                "GRANT EXECUTE ON FUNCTION lo_create(oid) TO versiongate_server", on: old, user: "versiongate"
            )
            try await execute("SELECT lo_create(0)", on: old, user: "versiongate_server")
            try await execute(
                """
                CREATE ROLE "Anna" LOGIN VALID UNTIL '2999-01-01Z';
                GRANT versiongate_admin TO "Anna";
                ALTER ROLE "Anna" SET search_path = public, pg_temp;
                ALTER ROLE "Anna" SET application_name = 'it''s Anna';
                ALTER DATABASE versiongate SET statement_timeout = '1min';
                ALTER ROLE versiongate_admin IN DATABASE versiongate SET lock_timeout = '5s';
                GRANT CREATE ON DATABASE versiongate TO "Anna" WITH GRANT OPTION;
                REVOKE TEMPORARY ON DATABASE versiongate FROM PUBLIC;
                CREATE ROLE unrelated;
                """,
                on: old,
                user: "versiongate"
            )
            try await StateFolder.with { folder in
                let backup = try await script.run("backup", "\(folder.path)/backup")
                #expect(backup.status == 0, "\(backup.errors)")
                try await OwnServer.with { new in
                    let restore = try await DatabaseScript(databaseURL: new.url()).run(
                        ["restore", "\(folder.path)/backup/", "restored"],
                        environment: ["VERSIONGATE_SERVER_PASSWORD": "p'w 1", "VERSIONGATE_ADMIN_PASSWORD": ""]
                    )
                    #expect(restore.status == 0, "\(restore.errors)")
                    #expect(restore.output.contains("Made the role Anna, without a password.\n"))
                    #expect(restore.output.contains("Set the password of versiongate_server.\n"))
                    #expect(!restore.output.contains("password of versiongate_admin"))
                    try await expectRoles(on: new)
                    let rules = try await BuiltBinary(
                        environment: ["DATABASE_URL": new.url(user: "versiongate_admin") + "&dbname=restored"]
                    ).run("rule list --format json")
                    #expect(rules.output.contains("1.2 is there"), "\(rules.errors)")
                }
            }
        }
    }

    private func expectRoles(on server: OwnServer) async throws {
        let connection = try await server.connect()
        let facts = [
            "pg_has_role('Anna', 'versiongate_admin', 'MEMBER')",
            """
            (SELECT rolconfig FROM pg_roles WHERE rolname = 'Anna')
                = ARRAY['search_path=public, pg_temp', 'application_name=it''s Anna']
            """,
            "(SELECT rolvaliduntil FROM pg_roles WHERE rolname = 'Anna') = '2999-01-01Z'",
            "NOT has_database_privilege('versiongate_server', 'restored', 'TEMPORARY')",
            "has_database_privilege('versiongate_server', 'restored', 'CONNECT')",
            "has_database_privilege('Anna', 'restored', 'CREATE WITH GRANT OPTION')",
            """
            (SELECT count(*) FROM pg_db_role_setting AS s JOIN pg_database AS d ON d.oid = s.setdatabase
              WHERE d.datname = 'restored' AND s.setconfig <@ ARRAY['statement_timeout=1min', 'lock_timeout=5s']) = 2
            """,
            "(SELECT rolpassword LIKE 'SCRAM-SHA-256$%' FROM pg_authid WHERE rolname = 'versiongate_server')",
            "(SELECT rolpassword IS NULL FROM pg_authid WHERE rolname = 'versiongate_admin')",
            "NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'unrelated')",
        ]
        for fact in facts {
            #expect(try await connection.query("SELECT \(fact)").value(as: Bool.self), "\(fact)")
        }
        await connection.close()
    }

    @Test("The commands of the guide to operations back up, restore and swap")
    func followsTheGuide() async throws {
        let blocks = try MarkdownBlock.all(in: "Documentation/Operations.md")
            .filter { $0.language == "sh" && $0.text.contains("script/database") }
        try #require(blocks.count == 2)
        try await withServer { postgres, _ in
            try await StateFolder.with { folder in
                let commands = blocks.map(\.text).joined()
                    .replacing("postgresql://versiongate_owner@db.example.com/versiongate", with: postgres.url())
                    .replacing("/var/backups/versiongate", with: folder.path)
                let result = try await BuiltBinary(environment: [:])
                    .shell("set -euo pipefail; cd '\(RepositoryFile.url("").path)'\n\(commands)")
                #expect(result.status == 0, "\(commands)\n\(result.errors)")
                #expect(result.output.contains("versiongate is what restored was"))
            }
        }
    }

    @Test("No password is among the arguments of a program")
    func hidesPasswords() async throws {
        try await withServer { postgres, _ in
            try await StateFolder.with { folder in
                // Programs that note their arguments, and the password that they are given, before they do their work.
                for program in ["psql", "pg_dump", "pg_restore"] {
                    let path = "\(folder.path)/\(program)"
                    let real = try #require(Companion.find(program))
                    let text = """
                        #!/bin/sh
                        printf '%s\\n' "$*" >> '\(folder.path)/arguments'
                        printf '%s\\n' "$PGPASSWORD" >> '\(folder.path)/passwords'
                        exec \(real) "$@"
                        """
                    try text.write(toFile: path, atomically: true, encoding: .utf8)
                    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
                }
                let script = DatabaseScript(
                    databaseURL:
                        "postgresql://versiongate:se%23cret%25%5C@/versiongate?host=\(postgres.socketDirectory)"
                        + "&port=\(postgres.port)"
                )
                for words in [
                    ["backup", "\(folder.path)/backup"], ["restore", "\(folder.path)/backup", "restored"],
                    ["swap", "versiongate", "restored"],
                ] {
                    let result = try await script.run(
                        words, environment: ["VERSIONGATE_SERVER_PASSWORD": "another-secret"], programs: folder.path
                    )
                    #expect(result.status == 0, "\(words): \(result.errors)")
                }
                let noted = try String(contentsOfFile: "\(folder.path)/arguments", encoding: .utf8)
                #expect(noted.contains("--dbname=postgresql://versiongate@/versiongate?host="))
                #expect(!noted.contains("cret") && !noted.contains("another-secret"), "\(noted)")
                let passwords = try String(contentsOfFile: "\(folder.path)/passwords", encoding: .utf8)
                #expect(Set(passwords.split(separator: "\n")) == [#"se#cret%\"#])
            }
        }
    }

    @Test("What cannot be done is refused with the reason and what to do, and leaves nothing behind")
    func refuses() async throws {
        try await withServer { postgres, script in
            try await StateFolder.with { folder in
                let backup = "\(folder.path)/backup"
                try #require(try await script.run("backup", backup).status == 0)
                let damaged = "\(folder.path)/damaged"
                try FileManager.default.copyItem(atPath: backup, toPath: damaged)
                try Data(contentsOf: URL(fileURLWithPath: "\(damaged)/dump")).dropLast(20_000)
                    .write(to: URL(fileURLWithPath: "\(damaged)/dump"))
                let fewer = "\(folder.path)/fewer"
                try FileManager.default.copyItem(atPath: backup, toPath: fewer)
                let contents = try String(contentsOfFile: "\(fewer)/contents", encoding: .utf8)
                try contents.replacing("rules|0", with: "rules|1")
                    .write(toFile: "\(fewer)/contents", atomically: true, encoding: .utf8)

                let server = DatabaseScript(databaseURL: postgres.url(user: "versiongate_server"))
                let parameter = DatabaseScript(databaseURL: postgres.url() + "&password=secret")
                // The other form of an address, and the one of the private PostgreSQL with another role.
                let words = DatabaseScript(
                    databaseURL:
                        "host=\(postgres.socketDirectory) port=\(postgres.port) user=versiongate dbname=versiongate"
                )
                let asOwner = DatabaseScript(databaseURL: postgres.url(user: "versiongate_admin") + "&user=versiongate")
                let nowhere = DatabaseScript(databaseURL: "host=\(folder.path) user=versiongate dbname=versiongate")
                let refused: [(script: DatabaseScript, words: [String], says: String)] = [
                    (script, ["backup", backup], "already exists. Name a new folder: \(backup)-2"),
                    (
                        server, ["backup", "\(folder.path)/new"],
                        "log in as the owner of the database, or as a role made by"
                    ),
                    (nowhere, ["backup", "\(folder.path)/new"], "No such file or directory"),
                    (parameter, ["backup", "\(folder.path)/new"], "Put it into PGPASSWORD or ~/.pgpass"),
                    (DatabaseScript(databaseURL: nil), ["backup", "\(folder.path)/new"], "DATABASE_URL is not set"),
                    (script, ["restore", backup, "versiongate"], "script/database swap versiongate NEW"),
                    (script, ["restore", backup, "Not-a-name"], "small letters, digits and _"),
                    (script, ["restore", folder.path, "restored"], "dump cannot be read"),
                    (script, ["restore", damaged, "restored"], "pg_restore"),
                    (script, ["restore", fewer, "restored"], "> rules|0"),
                    (server, ["restore", backup, "restored"], "permission denied to create database"),
                    (asOwner, ["restore", damaged, "restored"], "pg_restore"),
                    (script, ["swap", "versiongate", "restored"], "there is no database restored"),
                    (script, ["swap", "versiongate", "versiongate"], "name another"),
                    (words, ["swap", "versiongate", "versiongate"], "name another"),
                ]
                for attempt in refused {
                    let result = try await attempt.script.run(attempt.words)
                    #expect(result.status == 1, "\(attempt.words)")
                    #expect(result.errors.contains(attempt.says), "\(attempt.words): \(result.errors)")
                }
                #expect(
                    Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
                        == ["backup", "damaged", "fewer"]
                )
                let connection = try await postgres.connect()
                let databases = "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database WHERE datallowconn"
                #expect(
                    try await connection.query(databases).value(as: String.self) == "postgres template1 versiongate"
                )
                await connection.close()
                let usage = try await script.run("restore", backup)
                #expect(usage.status == 64)
                #expect(usage.errors.contains("script/database restore FOLDER NAME"))
            }
        }
    }

    @Test("An owner who may not end the connections of servers is told so, and servers go on with the same database")
    func swapsNothingByHalf() async throws {
        try await withServer { postgres, script in
            for statement in [
                "CREATE ROLE test_alice LOGIN CREATEDB", "CREATE DATABASE restored OWNER test_alice",
                "ALTER DATABASE versiongate OWNER TO test_alice",
            ] { try await execute(statement, on: postgres, user: "versiongate") }
            let server = try await postgres.connect(user: "versiongate_server")
            let alice = DatabaseScript(databaseURL: postgres.url(user: "test_alice"))
            let result = try await alice.run("swap", "versiongate", "restored")
            #expect(result.status == 1)
            #expect(result.errors.contains("pg_signal_backend"), "\(result.errors)")
            let database = try await server.query("SELECT current_database()::text").value(as: String.self)
            #expect(database == "versiongate")
            await server.close()
            try await execute("SELECT 1", on: postgres, user: "versiongate_server")
        }
    }
}
