import TestDatabase
import Testing

/// `release add --if-absent`, which a pipeline may run twice.
@Suite("Releases added if absent", .migratedDatabase)
struct ReleaseAddCommandTests {
    @Test("Of runs at the same time exactly one adds the release, and all end well")
    func concurrentRuns() async throws {
        try await TestDatabase.current.edit("INSERT INTO apps (bundle) VALUES ('a')")
        let versiongate = BuiltBinary(.current)
        let outputs = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    try await versiongate.succeed("release add a 1.2 --platform ios --build 42 --if-absent")
                }
            }
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(outputs.count { $0.contains("Added release") } == 1, "\(outputs)")
        #expect(outputs.count { $0.contains("the policy was already like that") } == 5, "\(outputs)")
        let rows = "SELECT platform, version, build FROM releases"
        #expect(try await TestDatabase.current.psql(rows).output == "ios|1.2|42\n")
    }
}
