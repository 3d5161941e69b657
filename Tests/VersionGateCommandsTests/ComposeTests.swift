import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing
import UpdatePolicy
import Yams

@Suite("Compose", .whole)
struct ComposeTests {
    private static func compose() throws -> [String: Any] {
        let text = try String(contentsOf: RepositoryFile.url("docker-compose.yml"), encoding: .utf8)
        return try #require(try Yams.load(yaml: text) as? [String: Any])
    }

    private static func services() throws -> [String: [String: Any]] {
        try #require(try compose()["services"] as? [String: [String: Any]])
    }

    @Test("Everything that a service of the Compose file names is there")
    func namesWhatIsThere() throws {
        let compose = try Self.compose()
        let volumes = Set(try #require(compose["volumes"] as? [String: Any]).keys)
        let configs = Set(try #require(compose["configs"] as? [String: Any]).keys)
        let services = try Self.services()
        for (name, service) in services {
            #expect(service["image"] is String, "\(name)")
            #expect(
                (service["build"] != nil) == (name == "migrate"),
                "\(name): one service exports the tag of the image"
            )
            for other in (service["depends_on"] as? [String: Any] ?? [:]).keys {
                let profiles = services[other]?["profiles"] as? [String] ?? []
                let own = service["profiles"] as? [String] ?? []
                #expect(services[other] != nil, "\(name) depends on \(other)")
                #expect(profiles.isEmpty || !profiles.filter(own.contains).isEmpty, "\(name) starts without \(other)")
            }
            for config in service["configs"] as? [[String: String]] ?? [] {
                #expect(configs.contains(config["source"] ?? ""), "\(name) mounts the config \(config)")
            }
            for volume in service["volumes"] as? [String] ?? [] {
                let source = String(volume.prefix { $0 != ":" })
                #expect(volumes.contains(source), "\(name) mounts the volume \(source)")
            }
        }
        let used = services.values.flatMap { $0["volumes"] as? [String] ?? [] }.map { String($0.prefix { $0 != ":" }) }
        #expect(volumes.isSubset(of: used))
    }

    @Test("Each service that ends is waited for by another: `up --wait` takes the end of any other for a failure")
    func waitsForWhatEnds() throws {
        let services = try Self.services()
        let ending = services.filter { $0.value["restart"] as? String == "no" }.keys
        let waitedFor = services.values.flatMap { service in
            (service["depends_on"] as? [String: [String: String]] ?? [:])
                .filter { $0.value["condition"] == "service_completed_successfully" && service["profiles"] == nil }.keys
        }
        #expect(Set(ending) == ["migrate", "roles"])
        #expect(Set(ending).isSubset(of: waitedFor))
    }

    @Test("Every script that the Compose file carries is one that bash can read")
    func carriesScripts() async throws {
        let configs = try #require(try Self.compose()["configs"] as? [String: [String: String]])
        for (name, config) in configs where name.hasSuffix(".sh") {
            // Compose reads $$ as $, and refuses a $ alone that names nothing.
            let text = try #require(config["content"])
            #expect(text.replacing("$$", with: "").contains("$") == false, "\(name) has a $ that Compose would replace")
            let script = text.replacing("$$", with: "$").shellWord
            let result = try await BuiltBinary(environment: [:]).shell("bash -n -c \(script)")
            #expect(result.status == 0, "\(name): \(result.errors)")
        }
    }

    /// Writes a script that the Compose file carries into a folder, as Compose would, and has passwords in that folder too.
    private static func write(_ name: String, to folder: StateFolder) throws -> String {
        let configs = try #require(try compose()["configs"] as? [String: [String: String]])
        let path = "\(folder.path)/\(name)"
        try #require(configs[name]?["content"]).replacing("$$", with: "$").replacing(
            "/passwords/", with: "\(folder.path)/"
        )
        .write(toFile: path, atomically: true, encoding: .utf8)
        for role in roles {
            try FileManager.default.createDirectory(atPath: "\(folder.path)/\(role)", withIntermediateDirectories: true)
        }
        return path
    }

    private static let roles = ["owner", "server", "admin"]

    @Test("The first start of the database makes a password for each role, and later ones keep them")
    func makesPasswords() async throws {
        try await StateFolder.with { folder in
            let script = try Self.write("start.sh", to: folder)
            let program = "\(folder.path)/docker-entrypoint.sh"
            try "#!/bin/sh\necho $POSTGRES_PASSWORD $*\n".write(toFile: program, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
            var made: [[String]] = []
            for _ in 1...2 {
                let result = try await BuiltBinary(environment: ["PATH": "\(folder.path):/usr/bin:/bin"])
                    .shell("bash '\(script)'")
                let passwords = try Self.roles.map {
                    try String(contentsOfFile: "\(folder.path)/\($0)/password", encoding: .utf8)
                }
                #expect(result.output == "\(passwords[0].dropLast()) postgres\n", "\(result.errors)")
                made.append(passwords)
            }
            #expect(made[0] == made[1])
            #expect(Set(made[0]).count == Self.roles.count)
            #expect(made[0].allSatisfy { $0.count > 32 })
        }
    }

    @Test("Compose gives the roles the passwords that are in their files, whatever characters these have")
    func setsPasswords() async throws {
        let environment = try #require(try Self.services()["roles"]?["environment"] as? [String: String])
        try await OwnServer.with(isMigrated: true) { server in
            try await StateFolder.with { folder in
                let script = try Self.write("roles.sh", to: folder)
                try String(contentsOfFile: script, encoding: .utf8)
                    .replacing("PGHOST=postgres", with: "PGHOST=\(server.socketDirectory)")
                    .write(toFile: script, atomically: true, encoding: .utf8)
                for (role, password) in zip(Self.roles, ["a", "b' \\c", "d"]) {
                    try password.write(toFile: "\(folder.path)/\(role)/password", atomically: true, encoding: .utf8)
                }
                let variables = environment.merging(["PGPORT": "\(server.port)"]) { $1 }
                let result = try await BuiltBinary(environment: variables).shell("bash '\(script)'")
                #expect(result.status == 0, "\(result.errors)")
            }
            let connection = try await server.connect()
            let hashed = """
                SELECT string_agg(rolname, ' ' ORDER BY rolname) FROM pg_authid
                 WHERE rolpassword LIKE 'SCRAM-SHA-256$%' AND rolcanlogin
                """
            let roles = try await connection.query(hashed).value(as: String.self)
            #expect(roles == "versiongate_admin versiongate_server")
            await connection.close()
        }
    }

    @Test("No service of the Compose file has a password in its environment, and each sees those alone that it needs")
    func keepsPasswordsInFiles() throws {
        for (name, service) in try Self.services() {
            let volumes = service["volumes"] as? [String] ?? []
            for (variable, value) in service["environment"] as? [String: String] ?? [:] {
                #expect(!variable.hasSuffix("PASSWORD"), "\(name): \(variable)")
                guard variable.hasSuffix("PASSWORD_FILE") else { continue }
                let seen = volumes.filter { $0.contains(":/passwords/") }
                #expect(seen.count == 1, "\(name): \(seen)")
                #expect(
                    seen.allSatisfy { value.hasPrefix($0.split(separator: ":")[1]) && $0.hasSuffix(":ro") }, "\(name)")
            }
        }
    }

    @Test("The entry point of the image reads secrets from files, and says which it cannot read")
    func readsSecrets() async throws {
        try await StateFolder.with { folder in
            let program = "\(folder.path)/versiongate"
            try "#!/bin/sh\nprintf '%s\\n' \"$1 $DATABASE_URL $PGPASSWORD $PGPASSWORD_FILE\"\n"
                .write(toFile: program, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
            let secret = "\(folder.path)/secret"
            try "b' \\c\n".write(toFile: secret, atomically: true, encoding: .utf8)
            try "".write(toFile: "\(folder.path)/empty", atomically: true, encoding: .utf8)
            func run(_ environment: [String: String]) async throws -> BuiltBinary.Result {
                let variables = ["PATH": "\(folder.path):/usr/bin:/bin", "DATABASE_URL": "x"]
                return try await BuiltBinary(environment: variables.merging(environment) { $1 })
                    .shell("bash '\(RepositoryFile.url("deploy/entrypoint").path)' serve")
            }
            #expect(try await run(["PGPASSWORD_FILE": secret]).output == "serve x b' \\c \n")
            for (variables, words) in [
                (["PGPASSWORD_FILE": "/nothing"], "PGPASSWORD_FILE is \"/nothing\", which cannot be read by user"),
                (["PGPASSWORD_FILE": "\(folder.path)/empty"], "which is empty"),
                (["DATABASE_URL_FILE": secret], "DATABASE_URL and DATABASE_URL_FILE are both set"),
            ] {
                let refused = try await run(variables)
                #expect(refused.status == 64)
                #expect(refused.errors.contains(words), "\(refused.errors)")
            }
        }
    }
}
