import Foundation
import Postgres
import TestDatabase
import TestRandom
import Testing

@Suite("Database choice", .whole, .timeLimit(.minutes(20)))
struct WhichDatabaseTests {
    @Test(
        "The database of a command is the one of --database-url or DATABASE_URL, and an empty one is an error and not another database"
    )
    func refusesAnEmptyAddress() async throws {
        try await StateFolder.with { folder in
            let environment = ["DATABASE_URL": "", "VERSIONGATE_STATE_DIR": folder.path]
            for command in ["app add com.example.hello", "rule list", "migrate", "serve", "database url"] {
                let result = try await BuiltBinary(environment: environment).run(command)
                #expect(result.status == 1, "\(command)")
                #expect(result.errors.contains("DATABASE_URL is set but empty; set it"), "\(result.errors)")
            }
            let option = try await BuiltBinary(environment: ["VERSIONGATE_STATE_DIR": folder.path])
                .run(arguments: ["rule", "list", "--database-url", ""])
            #expect(option.status == 64)
            #expect(option.errors.contains("--database-url is empty"), "\(option.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("The database of a command is never a private one that a script made by mistake")
    func makesNoDatabaseUnasked() async throws {
        try await StateFolder.with { folder in
            let versiongate = BuiltBinary(stateDirectory: folder.path)
            for command in [
                "app add com.example.hello", "rule list", "export", "migrate", "database url",
            ] {
                let result = try await versiongate.run(command)
                #expect(result.status == 1, "\(command)")
                #expect(
                    result.errors.contains(
                        "no database is named, and there is no private PostgreSQL in \(folder.path) yet; name a database "
                            + "with DATABASE_URL or --database-url, or make a private one with --private"
                    ),
                    "\(result.errors)"
                )
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            #expect(try await versiongate.run("app add --private com.example.hello").status == 0)
            #expect(try await versiongate.run("app list").output.contains("com.example.hello"))
        }
    }

    @Test("The database of a command is a private one after a question on a terminal alone")
    func asksBeforeItMakesOne() async throws {
        try await StateFolder.with { folder in
            let terminal = try await TerminalSession(BuiltBinary(stateDirectory: folder.path))
            defer { terminal.end() }
            try terminal.type("versiongate app add com.example.hello\n")
            try await terminal.expect("there is no private PostgreSQL in \(folder.path) yet. Make one there? [y/N] ")
            try terminal.type("n\n")
            try await terminal.expect("Error: nothing was made; name a database with DATABASE_URL")
            try await terminal.expect(TerminalSession.prompt)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            try terminal.type("versiongate app add com.example.hello\n")
            try await terminal.expect("[y/N] ")
            try terminal.type("y\n")
            try await terminal.expect("Edited private PostgreSQL in \(folder.path).")
            try await terminal.expect(TerminalSession.prompt)
        }
    }

    @Test(
        "The database of a command is the private one with --private although DATABASE_URL is set, and not both by options"
    )
    func prefersThePrivateOne() async throws {
        try await StateFolder.with { folder in
            let environment = ["DATABASE_URL": "postgresql://127.0.0.1:1/x", "VERSIONGATE_STATE_DIR": folder.path]
            let versiongate = BuiltBinary(environment: environment)
            let made = try await versiongate.run("app add --private com.example.hello")
            #expect(made.status == 0, "\(made.errors)")
            #expect(made.output.contains("Edited private PostgreSQL in \(folder.path).\n"))
            let both = try await versiongate.run("rule list --private --database-url postgresql://127.0.0.1:1/x")
            #expect(both.status == 64)
        }
    }

    @Test("The database of a command is one: a state folder beside an address of another is refused, whoever gave that")
    func refusesTwo() async throws {
        let address = "postgresql://127.0.0.1:1/x"
        for (environment, words, name) in [
            (["DATABASE_URL": address], "", "DATABASE_URL"), ([:], "--database-url \(address)", "--database-url"),
        ] {
            for command in ["app list", "app add a", "export", "database url", "migrate", "status"] {
                let result = try await BuiltBinary(environment: environment).run(
                    "\(command) --state-dir /nowhere \(words)"
                )
                #expect(result.status == 1, "\(command)")
                #expect(
                    result.errors.contains(
                        "--state-dir and \(name) name two databases; leave --state-dir out, or for the private PostgreSQL in "
                            + "/nowhere give --private with it"
                    ),
                    "\(command): \(result.errors)"
                )
            }
        }
    }

    @Test(
        "The database of a command is said by every edit, with host, port and name, and without the password",
        .migratedDatabase
    )
    func isNamed() async throws {
        let address = TestDatabase.current.url(user: "versiongate_admin")
        let withPassword = address.replacing("versiongate_admin@", with: "versiongate_admin:geheim@")
        let versiongate = BuiltBinary(environment: ["DATABASE_URL": withPassword])
        let connection = try await TestDatabase.current.connect()
        let name = try await connection.query("SELECT current_database()").value(as: String.self)
        let port = try await connection.query("SHOW port").value(as: String.self)
        let added = try await versiongate.run("app add com.example.hello")
        #expect(added.output.contains(":\(port)/\(name).\n"), "\(added.output)\(added.errors)")
        let again = try await versiongate.run("app edit com.example.hello --clear note")
        #expect(again.output.contains("Nothing changed on "), "\(again.output)")
        for result in [added, again] {
            #expect(!(result.output + result.errors).contains("geheim"))
        }
    }
}
