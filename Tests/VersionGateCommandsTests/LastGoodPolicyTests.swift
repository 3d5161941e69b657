import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Last good policy", .whole)
struct LastGoodPolicyTests {
    private func serve(
        _ binary: BuiltBinary,
        _ folder: StateFolder,
        _ body: @Sendable (ServingBinary) async throws -> Void
    )
        async throws
    {
        let ending = try await ServingBinary.run(binary, arguments: ["--state-dir", folder.path], body)
        #expect(ending.status == 0, "\(ending.errors)")
    }

    /// Leaves a file with the rule behind.
    private func fill(_ folder: StateFolder) async throws {
        let database = TestDatabase.current
        _ = try await database.psql(UpdateRule.rows, user: "versiongate_admin")
        let binary = BuiltBinary.server()
        try await serve(binary, folder) { server async throws in
            try await server.check(UpdateRule.client) { $0 == UpdateRule.answer }
        }
    }

    @Test(
        "The last good policy is on disk without notes, for its owner alone, and answers a start without a database",
        .migratedDatabase
    )
    func answersWithoutADatabase() async throws {
        try await StateFolder.with { folder in
            try await fill(folder)
            let text = try String(contentsOfFile: folder.policyFile, encoding: .utf8)
            #expect(text.contains("Please update"))
            #expect(!text.contains("secret"))
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.policyFile)
            #expect(attributes[.posixPermissions] as? Int == 0o600)

            try await serve(.withoutDatabase(), folder) { server async throws in
                #expect(try await server.check(UpdateRule.client) == UpdateRule.answer)
                let ready = try await server.management("/ready")
                #expect(ready.status == 200)
                #expect(ready.body.contains(#""source":"file""#))
                #expect(ready.body.contains(#""revision":2"#))
                #expect(ready.body.contains(#""database":"down""#))
                #expect(ready.body.contains("reloadError"))
            }
        }
    }

    @Test(
        "Pipes in the places of the files of the state folder keep no server from starting, with or without the database",
        .migratedDatabase
    )
    func startsWithPipes() async throws {
        for binary in [BuiltBinary.withoutDatabase(), BuiltBinary.server()] {
            try await StateFolder.with { folder in
                for name in ["", ".passed", ".passed.1", ".damaged"] {
                    #expect(mkfifo(folder.policyFile + name, 0o600) == 0)
                }
                for name in ["brake", "policy-trial"] { #expect(mkfifo("\(folder.path)/\(name)", 0o600) == 0) }
                try await serve(binary, folder) { server async throws in
                    #expect(try await server.check(UpdateRule.client) == UpdateRule.nothing)
                }
            }
        }
    }

    @Test(
        "The last good policy that is damaged is set aside, and does not keep the server from starting",
        .migratedDatabase
    )
    func setsADamagedFileAside() async throws {
        try await StateFolder.with { folder in
            try await fill(folder)
            let file = URL(fileURLWithPath: folder.policyFile)
            var bytes = try Data(contentsOf: file)
            bytes.removeLast(90)
            try bytes.write(to: file)
            try await serve(.withoutDatabase(), folder) { server async throws in
                #expect(try await server.check(UpdateRule.client) == UpdateRule.nothing)
                let ready = try await server.management("/ready")
                #expect(ready.status == 503)
                #expect(ready.body.contains("fileError"))
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder.policyFile + ".damaged")) == bytes)
            #expect(!FileManager.default.fileExists(atPath: folder.policyFile))
            try await fill(folder)
            #expect(FileManager.default.fileExists(atPath: folder.policyFile))
        }
    }

    @Test("The last good policy of a later version stays where it is, and is told about", .migratedDatabase)
    func leavesALaterFile() async throws {
        try await StateFolder.with { folder in
            let contents = "versiongate policy 99\n{}\nsha256 0\n"
            try contents.write(toFile: folder.policyFile, atomically: true, encoding: .utf8)
            try await serve(.withoutDatabase(), folder) { server async throws in
                #expect(try await server.management("/ready").body.contains("a later version of versiongate wrote it"))
            }
            #expect(try String(contentsOfFile: folder.policyFile, encoding: .utf8) == contents)
            // The next good policy takes its place, and it is kept.
            try await fill(folder)
            #expect(try String(contentsOfFile: folder.policyFile + ".damaged", encoding: .utf8) == contents)
        }
    }

    /// Makes the database what it was before its first edit, as a new one of the same name would be.
    private func empty(_ database: TestDatabase) async throws {
        let owner = try await database.connect()
        try await owner.execute(
            """
            SET session_replication_role = replica;
            DELETE FROM versiongate_internal.recorded_rows; DELETE FROM changes; DELETE FROM rules; DELETE FROM apps;
            UPDATE policy_revision SET revision = 0, token = gen_random_uuid(), xid = NULL, at = NULL;
            NOTIFY versiongate;
            """
        )
        await owner.close()
    }

    @Test(
        "The last good policy keeps answering where the database is emptied, and gives way, which is told, when somebody edits that",
        .migratedDatabase
    )
    func outlivesAnEmptiedDatabase() async throws {
        let database = TestDatabase.current
        try await StateFolder.with { folder in
            try await fill(folder)
            let binary = BuiltBinary.server()
            let ending = try await ServingBinary.run(binary, arguments: ["--state-dir", folder.path]) {
                server async throws in
                #expect(try await server.check(UpdateRule.client) == UpdateRule.answer)
                try await empty(database)
                let held = try await server.ready { $0.contains("reloadError") }
                #expect(held.status == 200)
                #expect(held.body.contains("nothing was ever edited in this database"), "\(held.body)")
                #expect(held.body.contains(#""revision":2"#))
                #expect(try await server.check(UpdateRule.client) == UpdateRule.answer)
                // Somebody goes on with the empty database.
                _ = try await database.psql("INSERT INTO apps (bundle) VALUES ('another')", user: "versiongate_admin")
                try await server.check(UpdateRule.client) { $0 == UpdateRule.nothing }
                #expect(try await !server.management("/ready").body.contains("reloadError"))
            }
            #expect(ending.status == 0)
            #expect(ending.errors.contains("policy.replaced=2"), "\(ending.errors)")
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.policyFile)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test(
        "The last good policy keeps answering a start at an empty database, until somebody edits that",
        .migratedDatabase
    )
    func outlivesAStartAtAnEmptyDatabase() async throws {
        let database = TestDatabase.current
        try await StateFolder.with { folder in
            try await fill(folder)
            try await empty(database)
            let binary = BuiltBinary.server()
            try await serve(binary, folder) { server async throws in
                #expect(try await server.check(UpdateRule.client) == UpdateRule.answer)
                let ready = try await server.ready { $0.contains("nothing was ever edited in this database") }
                #expect(ready.body.contains(#""source":"file""#))
                _ = try await database.psql("INSERT INTO apps (bundle) VALUES ('another')", user: "versiongate_admin")
                try await server.check(UpdateRule.client) { $0 == UpdateRule.nothing }
            }
        }
    }

    @Test(
        "The last good policy gives way, which is told, when a server starts at another database, whose revision is higher",
        .migratedDatabase
    )
    func givesWayToAnotherDatabase() async throws {
        let database = TestDatabase.current
        try await StateFolder.with { folder in
            try await fill(folder)
            try await empty(database)
            for number in 1...3 {
                _ = try await database.psql(
                    "INSERT INTO apps (bundle) VALUES ('a\(number)')", user: "versiongate_admin"
                )
            }
            let ending = try await ServingBinary.run(.server(), arguments: ["--state-dir", folder.path]) { server in
                _ = try await server.ready { $0.contains(#""revision":3"#) }
            }
            #expect(ending.errors.contains("policy.replaced=2"), "\(ending.errors)")
        }
    }

    @Test(
        "The last good policy gives way to the policy of a database that cannot say whether it goes on from there",
        .migratedDatabase
    )
    func givesWayWithoutAnAnswer() async throws {
        let database = TestDatabase.current
        try await StateFolder.with { folder in
            try await fill(folder)
            let owner = try await database.connect()
            try await owner.execute(
                "DROP FUNCTION versiongate_internal.history_has(bigint, text); UPDATE rules SET title = 'Other'"
            )
            await owner.close()
            let binary = BuiltBinary.server()
            try await serve(binary, folder) { server async throws in
                try await server.check(UpdateRule.client) { $0.contains("Other") }
                #expect(try await !server.management("/ready").body.contains("reloadError"))
            }
        }
    }

    @Test(
        "The last good policy is not told to be replaced where a server starts again at the same database",
        .migratedDatabase)
    func isNotToldWithoutNeed() async throws {
        let database = TestDatabase.current
        try await StateFolder.with { folder in
            try await fill(folder)
            _ = try await database.psql("UPDATE rules SET title = 'Other'", user: "versiongate_admin")
            let ending = try await ServingBinary.run(.server(), arguments: ["--state-dir", folder.path]) { server in
                try await server.check(UpdateRule.client) { $0.contains("Other") }
            }
            #expect(!ending.errors.contains("policy.replaced"))
            #expect(try String(contentsOfFile: folder.policyFile, encoding: .utf8).contains("Other"))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                    == ["last-good-policy", "policy-trial"]
            )
        }
    }

    @Test(
        "The last good policy cannot be kept where the state folder cannot be written, which is told and harms nothing",
        .migratedDatabase
    )
    func tellsThatItCannotBeKept() async throws {
        let database = TestDatabase.current
        _ = try await database.psql(UpdateRule.rows, user: "versiongate_admin")
        try await StateFolder.with { folder in
            let blocked = folder.path + "/a-file"
            try Data().write(to: URL(fileURLWithPath: blocked))
            let binary = BuiltBinary.server()
            let ending = try await ServingBinary.run(binary, arguments: ["--state-dir", blocked + "/state"]) {
                server async throws in
                try await server.check(UpdateRule.client) { $0 == UpdateRule.answer }
                #expect(try await server.management("/ready").status == 200)
            }
            #expect(ending.status == 0)
            #expect(ending.errors.contains("cannot be kept on disk"), "\(ending.errors)")
        }
    }

    @Test(
        "The last good policy stays when the newest cannot be compiled, whose row is told, until it is put right",
        .migratedDatabase
    )
    func staysWhenTheNewestIsBroken() async throws {
        let database = TestDatabase.current
        let owner = try await database.connect()
        try await owner.execute(UpdateRule.rows)
        let binary = BuiltBinary.server()
        try await ServingBinary.run(binary) { server async throws in
            try await server.check(UpdateRule.client) { $0 == UpdateRule.answer }
            // Around the constraints, as only a superuser can.
            try await owner.execute(
                """
                SET session_replication_role = replica;
                ALTER TABLE rules DROP CONSTRAINT rules_versions_check;
                UPDATE rules SET versions = 'nonsense', title = 'Broken';
                UPDATE policy_revision SET revision = revision + 1, token = gen_random_uuid();
                NOTIFY versiongate;
                """
            )
            let broken = try await server.ready { $0.contains("reloadError") }
            #expect(broken.status == 200)
            #expect(broken.body.contains("rule update"), "\(broken.body)")
            #expect(broken.body.contains("nonsense"), "\(broken.body)")
            #expect(try await server.check(UpdateRule.client) == UpdateRule.answer)
            try await owner.execute(
                """
                UPDATE rules SET versions = '<1.2', title = 'Fixed';
                UPDATE policy_revision SET revision = revision + 1, token = gen_random_uuid();
                NOTIFY versiongate;
                """
            )
            try await server.check(UpdateRule.client) { $0.contains("Fixed") }
            #expect(try await server.ready { !$0.contains("reloadError") }.status == 200)
        }
    }
}
