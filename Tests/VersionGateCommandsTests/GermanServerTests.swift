import Foundation
import Postgres
import TestDatabase
import TestRandom
import Testing

@Suite("A server that speaks German", .migratedDatabase)
struct GermanServerTests {
    /// Whether PostgreSQL's German messages are installed; slim images leave them out.
    private static let hasGerman: Bool = {
        let folder = "/usr/share/locale/de/LC_MESSAGES"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.contains { $0.hasPrefix("postgres-") }
    }()

    private static let refused = [
        "app add a", "rule add k --title T --text X", "rule add k --title T --text X --bundle a --soak 2x",
        "rule add new --title T --text X --remind 1year", "rule edit k --versions 1..2",
        "rule edit k --platform ios,android",
        "rule edit k --attribute os=1", "rule edit k --target 2", "rule edit k --shows 0", "rule edit k --remind 0",
        "rule edit k --soak -1d", "rule edit k --region de", "rule edit k --title {target}",
        "rule edit k --starts-at 2030-02-01T00:00:00Z --ends-at 2030-01-01T00:00:00Z",
        "rule edit k --bundle b", "rule copy k k", "rule ramp k 50%@2100-01-01T00:00:00Z 10%@2100-02-01T00:00:00Z",
        "release add b 1 --platform ios",
        "release add a 1.0.0 --platform ios", "app edit a --store-id 0", "undo 99 --yes", "undo 2 --yes",
        "rule add new --title T --text X --bundle a --platform tvos --lockout --enable --yes",
    ]

    private static let warned = [
        "rule add w1 --title {name} --text X --soak 1d --rollout 0.5", "rule edit k --bundle a --link store",
        "release add a 3 --platform ios --staged --live-at now",
    ]

    private func answers(_ url: (String) -> String) async throws -> [String] {
        let admin = BuiltBinary(environment: ["DATABASE_URL": url("versiongate_admin")])
        let app = ["app add a", "release add a 1 --platform ios --live-at 2026-01-01T00:00:00Z"]
        for line in app + ["rule add k --title T --text X", "app remove a --yes"] + app {
            try await admin.succeed(line)
        }
        var answers: [String] = []
        for line in Self.refused {
            let result = try await admin.run(line)
            #expect(result.status != 0, "\(line)")
            answers.append("\(line): \(result.errors)")
        }
        for line in Self.warned {
            let result = try await admin.run(line)
            #expect(result.status == 0, "\(line): \(result.errors)")
            #expect(result.errors.contains("Warning: "), "\(line)")
            answers.append("\(line): \(result.errors)")
        }
        let planner = BuiltBinary(environment: ["DATABASE_URL": url("versiongate_planner")])
        answers.append(try await planner.run("rule edit k --title New").errors)
        return answers
    }

    @Test("Commands say what was wrong and what to do in the same words as elsewhere", .whole, .enabled(if: hasGerman))
    func sameWords() async throws {
        let english = try await answers { TestDatabase.current.url(user: $0) }
        try await OwnServer.with(isMigrated: true, language: "de") { server in
            let connection = try await server.connect()
            let error = await #expect(throws: PostgresError.self) { try await connection.execute("SELECT 1 / 0") }
            await connection.close()
            #expect(error?.message == "Division durch Null")
            for (said, expected) in zip(try await answers { server.url(user: $0) }, english) {
                #expect(said == expected)
            }
        }
    }

    @Test("A role without the right to edit is told which one has it", .enabled(if: hasGerman))
    func missingRight() async throws {
        try await OwnServer.with(isMigrated: true, language: "de") { server in
            let viewer = BuiltBinary(environment: ["DATABASE_URL": server.url(user: "versiongate_viewer")])
            let result = try await viewer.run("app add a")
            #expect(result.status == 1)
            #expect(result.errors.contains("as an admin to edit"), "\(result.errors)")
        }
    }
}
