import Foundation
import Subprocess
import SystemPackage
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Brake recipes", .whole, .migratedDatabase)
struct BrakeRecipeTests {
    @Test("The recipes for Alertmanager, cron and a phone brake, and do nothing else, whatever they are sent")
    func recipes() async throws {
        let result = try await run(
            .path(FilePath(RepositoryFile.url("Tests/Packaging/brakes.sh").path)),
            environment: .inherit.updating([
                "ADMIN_URL": TestDatabase.current.url(user: "versiongate_admin"),
                "DATABASE_URL": TestDatabase.current.url(user: "versiongate_brake"),
            ]),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        #expect(result.terminationStatus.isSuccess, "\(result.standardError)")
        #expect(result.standardOutput == "The recipes hold\n")
    }
}
