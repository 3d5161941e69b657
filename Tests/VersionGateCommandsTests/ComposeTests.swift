import Foundation
import Postgres
import Subprocess
import SystemPackage
import TestDatabase
import TestRandom
import TestSystem
import Testing
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
                if source.hasPrefix("./") {
                    let file = RepositoryFile.url(String(source.dropFirst(2)))
                    #expect(FileManager.default.fileExists(atPath: file.path), "\(name) mounts \(source)")
                } else {
                    #expect(volumes.contains(source), "\(name) mounts the volume \(source)")
                }
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

    @Test("The cluster of the Compose file is a primary, a standby, two servers that follow both, and nginx")
    func describesACluster() throws {
        let services = try Self.services()
        let cluster = services.filter { ($0.value["profiles"] as? [String])?.contains("cluster") == true }
        #expect(Set(cluster.keys) == ["standby", "server-a", "server-b", "nginx"])
        let databases = ["server-a", "server-b"].map { name in
            (cluster[name]?["environment"] as? [String: String])?["DATABASE_URL"] ?? ""
        }
        #expect(databases.map { $0.contains("@postgres:5432,standby:5432/") } == [true, false])
        #expect(databases.map { $0.contains("@standby:5432,postgres:5432/") } == [false, true])
        let states = ["server-a", "server-b"].compactMap { (cluster[$0]?["volumes"] as? [String])?.first }
        #expect(Set(states).count == 2, "each server has a state folder of its own")

        let nginx = try String(contentsOf: RepositoryFile.url("deploy/nginx.conf"), encoding: .utf8)
        let upstreams = nginx.matches(of: #/\n\s+server ([a-z-]+):8080 resolve /#).map { String($0.output.1) }
        #expect(upstreams == ["server-a", "server-b"])
    }

    @Test("Every script that the Compose file carries is one that bash can read")
    func carriesScripts() async throws {
        let configs = try #require(try Self.compose()["configs"] as? [String: [String: String]])
        for (name, config) in configs where name.hasSuffix(".sh") {
            // Compose reads $$ as $, and refuses a $ alone that names nothing.
            let text = try #require(config["content"])
            #expect(text.replacing("$$", with: "").contains("$") == false, "\(name) has a $ that Compose would replace")
            let result = try await Subprocess.run(
                .name("bash"), arguments: ["-n"], input: .string(text.replacing("$$", with: "$")), output: .discarded,
                error: .string(limit: 1 << 16)
            )
            #expect(result.terminationStatus.isSuccess, "\(name): \(result.standardError)")
        }
    }

    /// Writes a script that the Compose file carries into a folder, as Compose would.
    private static func write(_ name: String, to folder: StateFolder) throws -> String {
        let configs = try #require(try compose()["configs"] as? [String: [String: String]])
        let path = "\(folder.path)/\(name)"
        try #require(configs[name]?["content"]).replacing("$$", with: "$")
            .write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("Compose gives the roles their passwords, but serves other machines only with passwords that are not public")
    func setsPasswords() async throws {
        let environment = try #require(try Self.services()["roles"]?["environment"] as? [String: String])
        let defaults = environment.compactMapValues { value in
            value.wholeMatch(of: /\$\{[A-Z_]+:-(.+)\}/).map { String($0.output.1) }
        }
        let names = ["owner", "server", "admin", "standby"]
        #expect(try Self.services()["roles"]?["secrets"] as? [String] == names)
        try await OwnServer.with(isMigrated: true) { server in
            let address = ["PGHOST": server.socketDirectory, "PGPORT": "\(server.port)", "PGUSER": "versiongate"]
            try await StateFolder.with { folder in
                let script = try Self.write("roles.sh", to: folder)
                let secrets = RepositoryFile.url("deploy/passwords").path
                func run(_ changes: [String: String]) async throws -> BuiltBinary.Result {
                    let variables = environment.merging(defaults) { $1 }.merging(address) { $1 }
                        .merging(["SECRETS": secrets]) { $1 }
                    return try await DeploymentTests.run([script], environment: variables.merging(changes) { $1 })
                }
                for bind in [
                    "0.0.0.0:8080", "8080", "[::]:8080", "10.0.0.5:8080", "127.example.com:80", "localhost:80",
                ] {
                    for name in ["VERSIONGATE_BIND", "VERSIONGATE_CLUSTER_BIND"] {
                        let refused = try await run([name: bind])
                        #expect(refused.status == 1)
                        #expect(refused.errors.contains("The password of owner is one that everybody knows"))
                        #expect(refused.errors.contains("\(name) (\(bind))"))
                    }
                }
                for (name, password) in zip(names, ["a", "b' \\c", "d", "versiongate-standby"]) {
                    try password.write(toFile: "\(folder.path)/\(name)", atomically: true, encoding: .utf8)
                }
                let forgotten = try await run(["SECRETS": folder.path, "VERSIONGATE_BIND": "0.0.0.0:8080"])
                #expect(forgotten.errors.contains("The password of standby is one that everybody knows"))
                try "e".write(toFile: "\(folder.path)/standby", atomically: true, encoding: .utf8)

                for changes in [
                    [:], ["VERSIONGATE_BIND": "[::1]:80"],
                    ["SECRETS": folder.path, "VERSIONGATE_BIND": "0.0.0.0:80"],
                ] {
                    let result = try await run(changes)
                    #expect(result.status == 0, "\(result.errors)")
                }
            }
            let connection = try await server.connect()
            let hashed = """
                SELECT string_agg(rolname, ' ' ORDER BY rolname) FROM pg_authid
                 WHERE rolpassword LIKE 'SCRAM-SHA-256$%' AND rolcanlogin
                """
            let roles = try await connection.query(hashed).value(as: String.self)
            #expect(roles == "versiongate_admin versiongate_server versiongate_standby")
            await connection.close()
        }
    }

    @Test("Each password of the Compose file is a secret with a file, and no service has one in its environment")
    func keepsPasswordsInFiles() throws {
        let secrets = try #require(try Self.compose()["secrets"] as? [String: [String: String]])
        for (name, secret) in secrets {
            #expect(secret["file"]?.hasSuffix("/\(name)") == true)
            let file = RepositoryFile.url("deploy/passwords/\(name)")
            #expect(try String(contentsOf: file, encoding: .utf8) == "versiongate-\(name)\n")
        }
        for (name, service) in try Self.services() {
            for variable in (service["environment"] as? [String: String] ?? [:]).keys {
                #expect(!variable.hasSuffix("PASSWORD"), "\(name): \(variable)")
            }
            for secret in service["secrets"] as? [String] ?? [] {
                #expect(secrets[secret] != nil, "\(name): \(secret)")
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
                try await DeploymentTests.run(
                    [RepositoryFile.url("deploy/entrypoint").path, "serve"],
                    environment: ["PATH": "\(folder.path):/usr/bin:/bin", "DATABASE_URL": "x"].merging(environment) {
                        $1
                    }
                )
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

    /// Runs a script of the Compose file with a folder in the place of the standby's data, and of postgres'.
    private static func runWithStandby(
        _ name: String,
        signal: Bool?,
        programs: [String: String],
        _ body: (BuiltBinary.Result, _ folder: String) throws -> Void
    ) async throws {
        try await StateFolder.with { folder in
            let script = try write(name, to: folder)
            let text = try String(contentsOfFile: script, encoding: .utf8)
                .replacing("/standby/standby", with: "\(folder.path)/standby").replacing(
                    "/postgres",
                    with: "\(folder.path)/postgres"
                )
                .replacing("/run/secrets", with: RepositoryFile.url("deploy/passwords").path)
            try text.write(toFile: script, atomically: true, encoding: .utf8)
            for data in ["standby", "postgres"] {
                try FileManager.default.createDirectory(
                    atPath: "\(folder.path)/\(data)",
                    withIntermediateDirectories: true
                )
                guard signal != nil else { continue }
                try "\(data)\n".write(toFile: "\(folder.path)/\(data)/PG_VERSION", atomically: true, encoding: .utf8)
            }
            if signal == true {
                try "".write(toFile: "\(folder.path)/standby/standby.signal", atomically: true, encoding: .utf8)
            }
            for (name, text) in programs {
                let path = "\(folder.path)/\(name)"
                try "#!/bin/sh\n\(text)\n".write(toFile: path, atomically: true, encoding: .utf8)
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            }
            let result = try await DeploymentTests.run(
                [script, "postgres", "-c", "a=b"],
                environment: ["PATH": "\(folder.path):/usr/bin:/bin"]
            )
            try body(result, folder.path)
        }
    }

    @Test("The primary of the Compose file starts, but not once the standby was promoted, whether that runs or not")
    func startsOnePrimary() async throws {
        let programs = ["docker-entrypoint.sh": "echo started $POSTGRES_PASSWORD $*"]
        for (signal, starts) in [(nil, true), (true, true), (false, false)] as [(Bool?, Bool)] {
            try await Self.runWithStandby("primary.sh", signal: signal, programs: programs) { result, _ in
                #expect(result.status == (starts ? 0 : 1), "\(result)")
                #expect(result.output == (starts ? "started versiongate-owner postgres -c a=b\n" : ""))
                #expect(result.errors.contains("The standby was promoted") == !starts)
            }
        }
    }

    @Test("What a promoted standby had is brought back to the primary only once it has been stopped")
    func failsBack() async throws {
        for (signal, state, words) in [
            (nil, "shut down", "was not promoted"), (true, "shut down", "was not promoted"),
            (false, "in production", "The standby runs"), (false, "shut down", nil),
        ] as [(Bool?, String, String?)] {
            let programs = ["pg_controldata": "echo 'Database cluster state:     \(state)'; echo end"]
            try await Self.runWithStandby("failback.sh", signal: signal, programs: programs) { result, folder in
                #expect(result.status == (words == nil ? 0 : 1), "\(result)")
                if let words { #expect(result.errors.contains(words)) }
                guard signal == false else { return }
                let version = try String(contentsOfFile: "\(folder)/postgres/PG_VERSION", encoding: .utf8)
                #expect(version == (words == nil ? "standby\n" : "postgres\n"))
                #expect(FileManager.default.fileExists(atPath: "\(folder)/standby") == (words != nil))
            }
        }
    }

    @Test("The command line of the Compose file edits whichever database is the primary")
    func editsThePrimary() throws {
        let environment = try Self.services()["cli"]?["environment"] as? [String: String]
        let address = environment?["DATABASE_URL"] ?? ""
        #expect(address.contains("@postgres:5432,standby:5432/versiongate?target_session_attrs=read-write"))
    }
}
