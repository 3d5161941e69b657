import Foundation
import NIOHTTP1
import TestDatabase
import TestRandom
import TestSystem
import Testing
import Yams

/// The files in `deploy/recipes` and `deploy/brakes`, run as their programs would run them.
@Suite("Recipes", .whole, .migratedDatabase)
struct RecipeTests {
    private static let recipes = RepositoryFile.url("deploy/recipes")

    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private func recipe(_ name: String) throws -> String {
        try String(contentsOf: Self.recipes.appending(path: name), encoding: .utf8)
    }

    /// Runs each script twice beside a server that takes releases, and expects the second run to change nothing.
    private func expectReleases(_ scripts: [String], _ wanted: String) async throws {
        let database = TestDatabase.current
        try await database.edit("INSERT INTO apps (bundle) VALUES ('com.example.doto')")
        let added = try await versiongate.succeed("token add ci --bundle com.example.doto")
        let token = try #require(added.firstMatch(of: /vgr_[0-9A-Za-z]{43}/)).output
        try await ServingBinary.run(.server(), arguments: ["--release-tokens"]) { server in
            for script in scripts {
                let environment = "export VERSIONGATE_TOKEN=\(token) VERSIONGATE_URL=\(server.publicURL)"
                let first = try await versiongate.shell("set -eu; \(environment)\n\(script)")
                #expect(first.status == 0 && first.output.hasPrefix(#"{"release":{"#), "\(first.output)\(first.errors)")
                let second = try await versiongate.shell("set -eu; \(environment)\n\(script)")
                #expect(second.status == 0 && second.output == first.output, "\(second.output)\(second.errors)")
            }
        }
        let recorded = try await database.psql(
            "SELECT string_agg(concat_ws(' ', platform, version, build, min_os, staged), ', ' ORDER BY id) FROM releases"
        )
        #expect(recorded.output == wanted + "\n")
    }

    @Test("The workflow for GitHub Actions records the release of its tag once")
    func gitHubActions() async throws {
        let workflow = try #require(try Yams.load(yaml: try recipe("github-actions.yml")) as? [String: Any])
        let record = (workflow["jobs"] as? [String: Any])?["record"] as? [String: Any]
        let script = try #require((record?["steps"] as? [[String: Any]])?.first?["run"] as? String)
        try await expectReleases(["TAG=v1.2 WHY=https://github.com/a/b\n\(script)"], "android 1.2 8 t")
    }

    @Test("The jobs for GitLab and Bitrise record the release of their tag once")
    func gitLabAndBitrise() async throws {
        let job = try #require(try Yams.load(yaml: try recipe("gitlab-ci.yml")) as? [String: Any])["record-release"]
        let gitLab = try #require(((job as? [String: Any])?["script"] as? [String])?.first)
        let file = try #require(try Yams.load(yaml: try recipe("bitrise.yml")) as? [String: Any])
        let workflow = (file["workflows"] as? [String: Any])?["record-release"] as? [String: Any]
        let step = (workflow?["steps"] as? [[String: Any]])?.first?["script@1"] as? [String: Any]
        let bitrise = try #require((step?["inputs"] as? [[String: Any]])?.first?["content"] as? String)
        try await expectReleases(
            [
                "CI_COMMIT_TAG=v1.2 CI_PIPELINE_URL=https://gitlab.com/a/b\n\(gitLab)",
                "BITRISE_GIT_TAG=1.3 BITRISE_BUILD_NUMBER=42 BITRISE_BUILD_URL=https://app.bitrise.io/b\n\(bitrise)",
            ], "ios 1.2 15 f, ios 1.3 42 15 f"
        )
    }

    @Test("The lanes for fastlane record a release, one that is staged, and the end of that, each once")
    func fastlane() async throws {
        let file = try recipe("Fastfile")
        let command = try #require(file.firstMatch(of: #/sh\(([\s\S]*?), log: false\)/#)).output.1
            .replacing(#/JSON.generate\(.*\)/#, with: "\"$RELEASE\"").replacing("\",", with: "\"")
            .replacing(#/#\{ENV.fetch\('(\w+)'\)\}/#) { "$\($0.output.1)" }.replacing("\n", with: " ")
        let values = [
            "get_version_number": "\"1.2\"", "get_build_number": "\"42\"", "options[:version]": "\"1.2\"",
            "options[:build].to_s": "\"42\"",
        ]
        let lanes = file.matches(of: #/record\(\{(.*) \}\)/#).map { lane in
            let members = values.reduce(String(lane.output.1)) { $0.replacing($1.key, with: $1.value) }
            let named = members.replacing(#/(\w+): /#) { "\"\($0.output.1)\": " }
            return "{\"bundle\": \"com.example.doto\",\(named)}"
        }
        #expect(lanes.count == 3)
        try await expectReleases(lanes.map { "RELEASE='\($0)'; \(command)" }, "ios 1.2 42 15 f, android 1.2 42 8 f")
    }

    @Test("The task for Gradle records a release once")
    func gradle() async throws {
        let file = try recipe("play-publisher.gradle.kts")
        let list = try #require(file.firstMatch(of: #/commandLine\(([\s\S]*?)\n    \)/#)).output.1
        let values = [
            "$url": "$VERSIONGATE_URL", "$token": "$VERSIONGATE_TOKEN", "${release.applicationId}": "com.example.doto",
            "${release.versionName}": "1.2", "${release.versionCode}": "42",
        ]
        let words = list.matches(of: #/"""([\s\S]*?)"""|"([^"]*)"/#).map { word in
            let text = values.reduce(String(word.output.1 ?? word.output.2 ?? "")) {
                $0.replacing($1.key, with: $1.value)
            }
            return "\"\(text.replacing("\"", with: "\\\""))\""
        }
        try await expectReleases([words.joined(separator: " ")], "android 1.2 42 8 t")
    }

    @Test("A chat hears of each change once, also of those while nobody told it, and again of one that it refused")
    func eachChange() async throws {
        let database = TestDatabase.current
        try await database.edit("INSERT INTO apps (bundle) VALUES ('a')")
        try await ScriptedServer.run(answering: { _ in .response(.ok) }) { server, port in
            try await StateFolder.with { folder in
                // It ends when the chat refuses a change.
                let script = """
                    versiongate() { "$VERSIONGATE" "$@"; }; export -f versiongate
                    exec bash '\(Self.recipes.path)/each-change' '\(folder.path)/told' \
                        curl --silent --fail --data @- http://127.0.0.1:\(port)/
                    """
                func told() async throws -> [String] {
                    server.takeRequests().map { String($0.body.prefix { $0 != "," }) }
                }
                for round in 0..<2 {
                    server.answer(.response(.ok), .response(.ok), .response(.serviceUnavailable))
                    if round == 1 {
                        try await database.edit("UPDATE apps SET name = 'x'", "UPDATE apps SET name = 'y'")
                    }
                    async let run = versiongate.shell(script)
                    if round == 0 {
                        try await Poll.until("the recipe to begin") {
                            FileManager.default.contents(atPath: "\(folder.path)/told")?.isEmpty == false
                        }
                        try await database.edit(
                            "UPDATE apps SET name = 'b'", "UPDATE apps SET name = 'c'", "UPDATE apps SET name = 'd'"
                        )
                    }
                    #expect(try await run.status != 0)
                    #expect(try await told() == (round == 0 ? [2, 3, 4] : [4, 5, 6]).map { "{\"id\":\($0)" })
                }
            }
        }
    }

    @Test("The recipes for Alertmanager, cron and a phone brake, and do nothing else, whatever they are sent")
    func brakes() async throws {
        let database = TestDatabase.current
        let brake = BuiltBinary(environment: [
            "ADMIN_URL": database.url(user: "versiongate_admin"),
            "DATABASE_URL": database.url(user: "versiongate_brake"),
        ])
        let result = try await brake.shell("'\(RepositoryFile.url("Tests/Packaging/brakes.sh").path)'")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "The recipes hold\n")
    }
}
