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

    private func releases() async throws -> String {
        try await TestDatabase.current.psql(
            "SELECT string_agg(concat_ws(' ', platform, version, build, min_os, staged), ', ' ORDER BY id) FROM releases"
        ).output
    }

    /// Runs a script twice, in a folder first on `PATH` where a program stands for another, and expects it to record one release.
    private func expectOneRelease(_ program: String, _ stand: String, _ script: String, _ wanted: String) async throws {
        try await StateFolder.with { folder in
            let path = "\(folder.path)/\(program)"
            try stand.write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            for words in ["Added release", "the policy was already like that"] {
                let result = try await versiongate.shell("set -eu; export PATH=\(folder.path):$PATH\n\(script)")
                #expect(result.status == 0 && result.output.contains(words), "\(result.output)\(result.errors)")
            }
        }
        #expect(try await releases() == wanted)
    }

    @Test("The workflow for GitHub Actions records the release of its tag once")
    func gitHubActions() async throws {
        try await TestDatabase.current.edit("INSERT INTO apps (bundle) VALUES ('com.example.doto')")
        let text = try String(contentsOf: Self.recipes.appending(path: "github-actions.yml"), encoding: .utf8)
        let jobs = try #require(try Yams.load(yaml: text) as? [String: Any])["jobs"] as? [String: Any]
        let steps = try #require((jobs?["record"] as? [String: Any])?["steps"] as? [[String: Any]])
        let script = try #require(steps.first?["run"] as? String)
        try await expectOneRelease(
            "docker",
            """
            #!/bin/bash
            [[ "$1 $2 $3 $4 $5" == "run --rm --env DATABASE_URL image" ]] || exit 3
            exec "$VERSIONGATE" "${@:6}"
            """,
            "IMAGE=image TAG=v1.2 WHY=https://github.com/a/b\n\(script)",
            "android 1.2 8 t\n"
        )
    }

    /// The words of a command that a recipe has as a list of quoted words, with a value for what is none.
    private func words(of command: String, in recipe: String, _ values: [String: String]) throws -> String {
        let text = try String(contentsOf: Self.recipes.appending(path: recipe), encoding: .utf8)
        let start = try #require(text.range(of: command))
        let list = text[start.upperBound...].prefix { $0 != ")" }
        return try list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
            .filter { !$0.isEmpty }
            .map { word in
                if let value = values[word] { return value }
                try #require(word.hasPrefix("\"") && word.hasSuffix("\""), "\(word)")
                return String(word.dropFirst().dropLast())
            }
            .joined(separator: " ")
    }

    @Test("The commands of the recipes for fastlane and Gradle record a release once")
    func fastlaneAndGradle() async throws {
        try await TestDatabase.current.edit("INSERT INTO apps (bundle) VALUES ('com.example.doto')")
        let stand = "#!/bin/bash\nexec \"$VERSIONGATE\" \"$@\"\n"
        let lane = try words(
            of: "sh(", in: "Fastfile",
            ["BUNDLE": "com.example.doto", "get_version_number": "1.2", "get_build_number": "42"]
        )
        try await expectOneRelease("versiongate", stand, lane, "ios 1.2 42 15 f\n")
        let task = try words(
            of: "commandLine(",
            in: "play-publisher.gradle.kts",
            [
                "release.applicationId": "com.example.doto", "release.versionName": "1.2",
                "\"${release.versionCode}\"": "42",
            ]
        )
        try await expectOneRelease("versiongate", stand, task, "ios 1.2 42 15 f, android 1.2 42 8 t\n")
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
