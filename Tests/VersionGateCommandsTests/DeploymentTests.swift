// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Subprocess
import SystemPackage
import TestDatabase
import Testing
import Yams

@Suite("What the repository has for running servers")
struct DeploymentTests {
    @Test(
        "systemd finds no fault in the units",
        .enabled(if: Companion.find("systemd-analyze") != nil, "systemd-analyze is not installed")
    )
    func verifiesUnits() async throws {
        let analyze = try #require(Companion.find("systemd-analyze"))
        try await StateFolder.with { folder in
            // systemd looks whether the program is there, which it is in the place of the build alone.
            for name in ["versiongate.service", "versiongate.socket"] {
                let unit = try String(contentsOf: RepositoryFile.url("deploy/\(name)"), encoding: .utf8)
                    .replacing("/usr/local/bin/versiongate", with: BuiltBinary.path)
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

    private static func compose() throws -> [String: Any] {
        let text = try String(contentsOf: RepositoryFile.url("docker-compose.yml"), encoding: .utf8)
        return try #require(try Yams.load(yaml: text) as? [String: Any])
    }

    private static func services() throws -> [String: [String: Any]] {
        try #require(try compose()["services"] as? [String: [String: Any]])
    }

    @Test("everything that a service of the Compose file names is there")
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

    @Test("the cluster of the Compose file is a primary, a standby, two servers that follow both, and nginx")
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

    @Test("every script that the Compose file carries is one that bash can read")
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

    @Test("what the Dockerfile copies is there, and the ignore file lets it through")
    func copiesWhatIsThere() throws {
        let dockerfile = try String(contentsOf: RepositoryFile.url("Dockerfile"), encoding: .utf8)
        let ignored = try String(contentsOf: RepositoryFile.url(".dockerignore"), encoding: .utf8)
        let sources = dockerfile.matches(of: #/\nCOPY ([A-Za-z/]+) /#).map { String($0.output.1) }
        #expect(sources.contains("Sources") && sources.contains("script/build"))
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
