import Postgres
import TestDatabase
import TestRandom
import Testing

@Suite("Open schema", .whole)
struct SchemaFaultCommandTests {
    @Test(
        "A database in which everybody may create objects is not migrated, is told by migrate --status, and is served with a warning"
    )
    func opensNothing() async throws {
        try await OwnServer.with { database in
            let superuser = try await database.connect()
            try await superuser.execute(
                """
                CREATE ROLE test_alice LOGIN CREATEROLE; ALTER DATABASE versiongate OWNER TO test_alice;
                ALTER SCHEMA public OWNER TO versiongate; GRANT CREATE ON SCHEMA public TO PUBLIC;
                """
            )
            let owner = BuiltBinary(environment: ["DATABASE_URL": database.url(user: "test_alice")])
            let fault = "everybody may create objects in schema public, and so act as test_alice"
            let cure = "ALTER SCHEMA public OWNER TO test_alice; REVOKE CREATE ON SCHEMA public FROM PUBLIC;"
            let refusal = try await owner.run("migrate")
            #expect(refusal.status == 1)
            #expect(refusal.errors.contains(fault) && refusal.errors.contains("Hint: Let a superuser run: \(cure)"))
            try await superuser.execute(cure)
            try await owner.succeed("migrate")
            try await superuser.execute(
                """
                INSERT INTO rules (key, title, text, enabled) VALUES ('k', 't', 'x', true);
                GRANT CREATE ON SCHEMA public TO PUBLIC;
                """
            )

            let status = try await owner.run("migrate --status")
            #expect(status.status == 0)
            #expect(status.output.contains("0000_schema") && !status.output.contains(fault))
            #expect(status.errors.contains("Danger: \(fault)\nHint: "))
            let again = try await owner.run("migrate")
            #expect(again.status == 1)
            #expect(again.errors.contains(cure))

            for (user, arguments) in [("versiongate_server", []), ("test_alice", ["--migrate"])] {
                let ending = try await ServingBinary.run(
                    BuiltBinary(environment: ["DATABASE_URL": database.url(user: user)]), arguments: arguments
                ) { server in
                    try await server.check(#"{"bundle":"com.example.doto"}"#) { $0.contains("\"k\"") }
                }
                #expect(ending.status == 0)
                #expect(ending.errors.contains("The rights in the database are not safe"), "\(ending.errors)")
                #expect(ending.errors.contains(cure), "\(ending.errors)")
            }
            await superuser.close()
        }
    }
}
