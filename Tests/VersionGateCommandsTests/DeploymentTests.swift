import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Deployment", .whole)
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
            let units = "'\(folder.path)/versiongate.service' '\(folder.path)/versiongate.socket'"
            let result = try await BuiltBinary(environment: [:]).shell("'\(analyze)' verify --man=no \(units) 2>&1")
            #expect(result.status == 0)
            let complaints = result.output.split(separator: "\n").filter { $0.contains("versiongate.") }
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
            let nginx = try #require(Nginx.program)
            let result = try await BuiltBinary(environment: [:]).shell("'\(nginx)' -t -p '\(folder)' -c '\(file)'")
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    @Test(
        "The steps of the guide make a database that a server can read and a person can edit, with nothing wrong in it"
    )
    func installs() async throws {
        let guide = "Documentation/Install.md"
        let blocks = try MarkdownBlock.all(in: guide).filter { ["psql", "sh"].contains($0.language) }.prefix(3)
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
                        let result = try await BuiltBinary(environment: ["PATH": "\(path):/usr/bin:/bin"])
                            .shell("set -euo pipefail\n\(steps[1])")
                        #expect(result.status == 0, "\(result.errors)")
                        #expect(result.output.contains("0019_roles"))
                        #expect(!result.output.contains("REVOKE"), "\(result.output)")
                    }
                    let script = "\(folder.path)/\(number).sql"
                    try steps[number].write(toFile: script, atomically: true, encoding: .utf8)
                    // Without a terminal psql reads the passwords from standard input.
                    let psql = "psql --no-psqlrc --set=ON_ERROR_STOP=1 -f '\(script)' --dbname='\(address)'"
                    let result = try await BuiltBinary(environment: [:]).shell("yes secret | setsid --wait \(psql)")
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
        let script = RepositoryFile.url("deploy/healthcheck").path
        let status = { @Sendable (path: String, port: Int) async throws -> Int in
            let port = BuiltBinary(environment: ["VERSIONGATE_MANAGEMENT_PORT": "\(port)"])
            return try await port.shell("'\(script)' \(path)").status
        }
        try await ServingBinary.run(BuiltBinary(environment: ["DATABASE_URL": url])) { server in
            let port = try #require(URL(string: server.managementURL)?.port)
            for (path, wanted) in [("/live", 0), ("/ready", 0), ("/nowhere", 1)] {
                #expect(try await status(path, port) == wanted, "\(path)")
            }
        }
        #expect(try await status("/live", FreePort.choose()) == 1)
    }

    /// The pages of the repository for people, by their paths in it.
    static let documents: [String] = {
        let repository = RepositoryFile.url("").standardizedFileURL
        let files = FileManager.default.enumerator(
            at: repository, includingPropertiesForKeys: nil, options: .skipsHiddenFiles
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

    @Test("The image says nothing of the management listener to what publishes all ports")
    func exposesThePublicListenerAlone() throws {
        let dockerfile = try String(contentsOf: RepositoryFile.url("Dockerfile"), encoding: .utf8)
        #expect(dockerfile.matches(of: #/\nEXPOSE (.+)/#).map { String($0.output.1) } == ["8080"])
    }

    @Test("What the Dockerfile copies is there, and the ignore file lets it through")
    func copiesWhatIsThere() throws {
        let dockerfile = try String(contentsOf: RepositoryFile.url("Dockerfile"), encoding: .utf8)
        let ignored = try String(contentsOf: RepositoryFile.url(".dockerignore"), encoding: .utf8)
        let sources = dockerfile.matches(of: #/(?m)^COPY ([A-Za-z\/. -]+) [A-Za-z\/.-]+$/#)
            .flatMap { $0.output.1.split(separator: " ").map(String.init) }
        let needed = ["Documentation/openapi-server.yaml", "Documentation/openapi.yaml", "Sources", "script/build"]
        for source in needed { #expect(sources.contains(source)) }
        for source in sources {
            #expect(FileManager.default.fileExists(atPath: RepositoryFile.url(source).path), "\(source)")
            #expect(ignored.contains("\n!\(source)\n"), "\(source)")
        }
        // The manifest names these folders. A change of a test builds no new image.
        let manifest = try String(contentsOf: RepositoryFile.url("Package.swift"), encoding: .utf8)
        for folder in Set(manifest.matches(of: /path: "([A-Za-z]+)\//).map { String($0.output.1) }) {
            #expect(sources.contains(folder) != ["Benchmarks", "Tests"].contains(folder), "\(folder)")
        }
        #expect(dockerfile.contains("\nENV VERSIONGATE_SERVER_ALONE=1\n"))
    }
}
