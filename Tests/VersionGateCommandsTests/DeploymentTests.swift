// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Postgres
import Subprocess
import SystemPackage
import TestDatabase
import TestSystem
import Testing
import Yams

@Suite("Deployment")
struct DeploymentTests {
    @Test(
        "Systemd finds no fault in the units",
        .enabled(if: Companion.find("systemd-analyze") != nil, "systemd-analyze is not installed")
    )
    func verifiesUnits() async throws {
        let analyze = try #require(Companion.find("systemd-analyze"))
        try await StateFolder.with { folder in
            for name in ["versiongate.service", "versiongate.socket"] {
                // systemd looks whether the program is there, which it is in the place of the build alone. What is
                // commented out, for those who want it, has to hold as well.
                let unit = try String(contentsOf: RepositoryFile.url("deploy/\(name)"), encoding: .utf8)
                    .replacing("/usr/local/bin/versiongate", with: BuiltBinary.path)
                    .replacing(#/\n#(?<setting>[A-Z][A-Za-z]+=)/#) { "\n\($0.setting)" }
                try unit.write(toFile: "\(folder.path)/\(name)", atomically: true, encoding: .utf8)
            }
            let result = try await Subprocess.run(
                .path(FilePath(analyze)),
                arguments: [
                    "verify", "--man=no", "\(folder.path)/versiongate.service", "\(folder.path)/versiongate.socket",
                ],
                output: .string(limit: 1 << 16),
                error: .string(limit: 1 << 16)
            )
            #expect(result.terminationStatus.isSuccess)
            let complaints = (result.standardOutput + result.standardError).split(separator: "\n")
                .filter { $0.contains("versiongate.") }
            #expect(complaints.isEmpty, "\(complaints)")
        }
    }

    @Test("The service does on a reload what the guide says: SIGHUP, which reads the certificate again")
    func reloads() throws {
        let unit = try String(contentsOf: RepositoryFile.url("deploy/versiongate.service"), encoding: .utf8)
        #expect(unit.contains("\nExecReload=/bin/kill -HUP $MAINPID\n"))
    }

    @Test(
        "Nginx takes its configuration, with the lines for TLS that the guide shows",
        .enabled(if: Nginx.program != nil, "nginx is not installed")
    )
    func configuresNginxForTLS() async throws {
        let guide = "Documentation/Install.md"
        let blocks = try MarkdownBlock.all(in: guide).filter { $0.language == "nginx" }
        try #require(blocks.count == 1)
        #expect(blocks[0].text.contains("listen 443 ssl"))
        // Whoever is not root may not open port 443, which nginx does even to test a configuration.
        let port = try await FreePort.choose()
        try await StateFolder.with { state in
            let folder = state.path
            let certificate = try await TestCertificate(in: folder, name: "nginx")
            let configuration = try String(contentsOf: RepositoryFile.url("deploy/nginx.conf"), encoding: .utf8)
                .replacing("listen 8080 backlog=4096;", with: blocks[0].text)
                .replacing("listen 443", with: "listen 127.0.0.1:\(port)")
                .replacing("/etc/nginx/chain.pem", with: certificate.certificate)
                .replacing("/etc/nginx/key.pem", with: certificate.key)
                .replacing("server-a:8080", with: "127.0.0.1:8081")
                .replacing("server-b:8080", with: "127.0.0.1:8082")
                .replacing("/tmp/nginx", with: "\(folder)/nginx")
            #expect(!configuration.contains("listen 8080"))
            let file = "\(folder)/nginx.conf"
            try configuration.write(toFile: file, atomically: true, encoding: .utf8)
            let result = try await Subprocess.run(
                .path(FilePath(try #require(Nginx.program))),
                arguments: ["-t", "-p", folder, "-c", file],
                output: .string(limit: 1 << 16),
                error: .string(limit: 1 << 16)
            )
            #expect(result.terminationStatus.isSuccess, "\(result.standardError)")
        }
    }

    @Test(
        "The steps of the guide make a database that a server can read and a person can edit, with nothing wrong in it"
    )
    func installs() async throws {
        let guide = "Documentation/Install.md"
        let blocks = try MarkdownBlock.all(in: guide).filter { ["psql", "sh"].contains($0.language) }
        try #require(blocks.map(\.language) == ["psql", "sh", "psql"])
        try await OwnServer.with { server in
            func url(_ user: String) -> String { server.url(user: user) + "&dbname=production" }
            // Roles that the test's server lets in, and a database that it does not have.
            let steps = blocks.map { block in
                block.text.replacing("versiongate_owner@db.example.com/versiongate'", with: "")
                    .replacing("'postgresql://", with: "'\(url("test_alice"))'")
                    .replacing("versiongate_owner", with: "test_alice").replacing("anna", with: "test_bob")
                    .replacing("DATABASE versiongate", with: "DATABASE production")
                    .replacing("connect versiongate", with: "connect production")
            }
            try await StateFolder.with { folder in
                for (number, address) in [(0, server.url()), (2, url("test_alice"))] {
                    if number == 2 {
                        let path = URL(fileURLWithPath: BuiltBinary.path).deletingLastPathComponent().path
                        let result = try await Self.run(
                            ["-euo", "pipefail", "-c", steps[1]],
                            environment: ["PATH": "\(path):/usr/bin:/bin"]
                        )
                        #expect(result.status == 0, "\(result.errors)")
                        #expect(result.output.contains("0016_roles"))
                        #expect(!result.output.contains("REVOKE"), "\(result.output)")
                    }
                    let script = "\(folder.path)/\(number).sql"
                    try steps[number].write(toFile: script, atomically: true, encoding: .utf8)
                    // Without a terminal psql reads the passwords from standard input.
                    let result = try await Self.run(
                        [
                            "-c", "yes secret | setsid --wait psql --no-psqlrc --set=ON_ERROR_STOP=1 -f \"$@\"", "psql",
                            script, "--dbname=\(address)",
                        ],
                        environment: [:]
                    )
                    #expect(result.status == 0, "\(result.errors)")
                }
            }
            let person = BuiltBinary(environment: ["DATABASE_URL": url("test_bob")])
            let edit = try await person.run("app add com.example.doto")
            #expect(edit.status == 0, "\(edit.errors)")
            let reader = BuiltBinary(environment: ["DATABASE_URL": url("versiongate_server")])
            try await ServingBinary.run(reader) { running in
                _ = try await running.ready { $0.contains("\"revision\":1") }
            }
            let connection = try await server.connect()
            let hashed = """
                SELECT string_agg(rolname, ' ' ORDER BY rolname) FROM pg_authid
                 WHERE rolpassword LIKE 'SCRAM-SHA-256$%' AND NOT rolsuper
                """
            let roles = try await connection.query(hashed).value(as: String.self)
            #expect(roles == "test_alice test_bob versiongate_server")
            await connection.close()
        }
    }

    @Test("The health check of the image ends with 0 for 200 alone", .migratedDatabase)
    func checksHealth() async throws {
        let url = TestDatabase.current.url(user: "versiongate_server")
        let script = FilePath(RepositoryFile.url("deploy/healthcheck").path)
        let status = { @Sendable (path: String, port: Int?) async throws -> TerminationStatus in
            try await Subprocess.run(
                .path(script),
                arguments: [path],
                environment: .inherit.updating(["VERSIONGATE_MANAGEMENT_PORT": port.map(String.init)]),
                output: .discarded,
                error: .discarded
            ).terminationStatus
        }
        try await ServingBinary.run(BuiltBinary(environment: ["DATABASE_URL": url])) { server in
            let port = URL(string: server.managementURL)?.port
            for (path, wanted) in [("/live", 0), ("/ready", 0), ("/nowhere", 1)] as [(String, Int32)] {
                let ending = try await status(path, port)
                #expect(ending == .exited(wanted), "\(path)")
            }
        }
        let ending = try await status("/live", try await FreePort.choose())
        #expect(ending == .exited(1))
    }

    /// The pages of the repository for people, by their paths in it.
    static let documents: [String] = {
        let repository = RepositoryFile.url("").standardizedFileURL
        let files = FileManager.default.enumerator(
            at: repository,
            includingPropertiesForKeys: nil,
            options: .skipsHiddenFiles
        )
        return (files?.compactMap { $0 as? URL } ?? [])
            .map { $0.standardizedFileURL.pathComponents.dropFirst(repository.pathComponents.count) }
            .filter { $0.last?.hasSuffix(".md") == true && !$0.contains("node_modules") }
            .map { $0.joined(separator: "/") }.sorted()
    }()

    @Test("Every file and every heading that a document names is there", arguments: DeploymentTests.documents)
    func namesFilesThatExist(document: String) throws {
        for page in ["README.md", "Documentation/README.md", "Clients/Swift/README.md"] {
            #expect(Self.documents.contains(page))
        }
        let text = try String(contentsOf: RepositoryFile.url(document), encoding: .utf8)
        let folder = RepositoryFile.url(document).deletingLastPathComponent()
        for link in text.matches(of: #/\]\((?<path>[A-Za-z.][^):#]*)?(?:#(?<heading>[^)]+))?\)/#) {
            let file = link.path.map { folder.appending(path: $0) } ?? RepositoryFile.url(document)
            #expect(FileManager.default.fileExists(atPath: file.path), "\(document) names \(file.path)")
            guard let heading = link.heading, let page = try? String(contentsOf: file, encoding: .utf8) else {
                continue
            }
            #expect(Self.anchors(in: page).contains(String(heading)), "\(document) names #\(heading) of \(file.path)")
        }
        for picture in text.matches(of: #/(?:src|srcset)="(?<path>[^":]+)"/#) {
            let file = folder.appending(path: picture.path)
            #expect(FileManager.default.fileExists(atPath: file.path), "\(document) shows \(file.path)")
        }
        for match in text.matches(of: #/`(?<path>(?:script|deploy|Documentation|Migrations)\/[A-Za-z0-9._\/-]+)/#) {
            let file = RepositoryFile.url(String(match.path))
            #expect(FileManager.default.fileExists(atPath: file.path), "\(document) names \(file.path)")
        }
    }

    /// What links to the headings of a page end with, as GitHub makes it from their words.
    private static func anchors(in page: String) -> Set<String> {
        var anchors: Set<String> = []
        var isCode = false
        for line in page.split(separator: "\n") {
            if line.hasPrefix("```") { isCode.toggle() }
            guard line.hasPrefix("#"), !isCode else { continue }
            let words = line.drop { $0 == "#" }.dropFirst().lowercased()
            let kept = words.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
            anchors.insert(kept.replacing(" ", with: "-"))
        }
        return anchors
    }

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
        let upstreams = nginx.matches(of: #/\n\s+server ([a-z-]+):8080 /#).map { String($0.output.1) }
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
                .name("bash"),
                arguments: ["-n"],
                input: .string(text.replacing("$$", with: "$")),
                output: .discarded,
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

    /// Runs a script of the Compose file by bash.
    private static func run(
        _ arguments: [String],
        environment: [String: String]
    ) async throws -> BuiltBinary.Result {
        var variables: [Environment.Key: String?] = [:]
        for (name, value) in environment { variables[Environment.Key(rawValue: name)!] = value }
        let result = try await Subprocess.run(
            .name("bash"),
            arguments: Arguments(arguments),
            environment: .inherit.updating(variables),
            output: .string(limit: 1 << 16),
            error: .string(limit: 1 << 16)
        )
        guard case .exited(let status) = result.terminationStatus else { throw CompanionError("bash was killed") }
        return BuiltBinary.Result(status: Int(status), output: result.standardOutput, errors: result.standardError)
    }

    @Test("Compose gives the roles their passwords, but serves other machines only with passwords that are not public")
    func setsPasswords() async throws {
        let environment = try #require(try Self.services()["roles"]?["environment"] as? [String: String])
        let defaults = environment.compactMapValues { value in
            value.wholeMatch(of: /\$\{[A-Z_]+:-(.+)\}/).map { String($0.output.1) }
        }
        #expect(defaults.filter { $0.key.hasSuffix("_PASSWORD") }.count == 4)
        let own = [
            "POSTGRES": "a", "VERSIONGATE_SERVER": "b' \\c", "VERSIONGATE_ADMIN": "d", "VERSIONGATE_STANDBY": "e",
        ]
        .map { ("\($0)_PASSWORD", $1) }
        let ownPasswords = Dictionary(uniqueKeysWithValues: own)
        try await OwnServer.with(isMigrated: true) { server in
            let address = ["PGHOST": server.socketDirectory, "PGPORT": "\(server.port)", "PGUSER": "versiongate"]
            try await StateFolder.with { folder in
                let script = try Self.write("roles.sh", to: folder)
                func run(_ changes: [String: String]) async throws -> BuiltBinary.Result {
                    let variables = environment.merging(defaults) { $1 }.merging(address) { $1 }
                    return try await Self.run([script], environment: variables.merging(changes) { $1 })
                }
                for bind in ["0.0.0.0:8080", "8080", "[::]:8080", "10.0.0.5:8080", "127.example.com:80"] {
                    for name in ["VERSIONGATE_BIND", "VERSIONGATE_CLUSTER_BIND"] {
                        let refused = try await run([name: bind])
                        #expect(refused.status == 1)
                        #expect(refused.errors.contains("POSTGRES_PASSWORD is a default that everybody knows"))
                        #expect(refused.errors.contains("\(name) (\(bind))"))
                    }
                }
                var three = ownPasswords
                three["VERSIONGATE_STANDBY_PASSWORD"] = "versiongate-standby"
                let forgotten = try await run(three.merging(["VERSIONGATE_BIND": "0.0.0.0:8080"]) { $1 })
                #expect(forgotten.errors.contains("VERSIONGATE_STANDBY_PASSWORD is a default"))

                for changes in [
                    [:], ["VERSIONGATE_BIND": "[::1]:80"],
                    ownPasswords.merging(["VERSIONGATE_BIND": "0.0.0.0:80"]) { $1 },
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

    @Test("The primary of the Compose file starts, but not once the standby was promoted")
    func startsOnePrimary() async throws {
        for (standby, starts) in [("echo f", false), ("echo t", true), ("exit 2", true)] {
            try await StateFolder.with { folder in
                let script = try Self.write("primary.sh", to: folder)
                for (name, text) in [("psql", standby), ("docker-entrypoint.sh", "echo started $*")] {
                    let path = "\(folder.path)/\(name)"
                    try "#!/bin/sh\n\(text)\n".write(toFile: path, atomically: true, encoding: .utf8)
                    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
                }
                let result = try await Self.run(
                    [script, "postgres", "-c", "a=b"],
                    environment: ["PATH": "\(folder.path):/usr/bin:/bin", "POSTGRES_PASSWORD": "p"]
                )
                #expect(result.status == (starts ? 0 : 1), "\(standby)")
                #expect(result.output == (starts ? "started postgres -c a=b\n" : ""))
                #expect(result.errors.contains("The standby was promoted") == !starts)
            }
        }
    }

    @Test("The command line of the Compose file edits whichever database is the primary")
    func editsThePrimary() throws {
        let environment = try Self.services()["cli"]?["environment"] as? [String: String]
        let address = environment?["DATABASE_URL"] ?? ""
        #expect(address.contains("@postgres:5432,standby:5432/versiongate?target_session_attrs=read-write"))
    }

    @Test("The image says nothing of the management listener to what publishes all ports")
    func exposesThePublicListenerAlone() throws {
        let dockerfile = try String(contentsOf: RepositoryFile.url("Dockerfile"), encoding: .utf8)
        #expect(dockerfile.matches(of: #/\nEXPOSE (.+)/#).map { String($0.output.1) } == ["8080"])
    }

    @Test("What the Dockerfile copies is there, and the ignore file lets it through")
    func copiesWhatIsThere() throws {
        let dockerfile = try String(contentsOf: RepositoryFile.url("Dockerfile"), encoding: .utf8)
        let ignored = try String(contentsOf: RepositoryFile.url(".dockerignore"), encoding: .utf8)
        let sources = dockerfile.matches(of: #/\nCOPY ([A-Za-z\/.-]+) /#).map { String($0.output.1) }
        let needed = ["Documentation/openapi-server.yaml", "Documentation/openapi.yaml", "Sources", "script/build"]
        for source in needed { #expect(sources.contains(source)) }
        for source in sources {
            #expect(FileManager.default.fileExists(atPath: RepositoryFile.url(source).path), "\(source)")
            #expect(ignored.contains("\n!\(source)\n"), "\(source)")
        }
        // The manifest names these folders; without one of them it cannot be read.
        let manifest = try String(contentsOf: RepositoryFile.url("Package.swift"), encoding: .utf8)
        for folder in Set(manifest.matches(of: /path: "([A-Za-z]+)\//).map { String($0.output.1) }) {
            #expect(sources.contains(folder), "\(folder)")
        }
    }
}
