import Postgres
import TestDatabase
import Testing
import UpdatePolicy

@testable import PolicyStore

/// What reports say that no command of a test shows.
@Suite("Administration views", .migratedDatabase)
struct AdministrationTests {
    @Test("The views list a release as withdrawn that was withdrawn before it would be live")
    func withdrawnBeforeItIsLive() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute(
            """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '1', '2099-01-01Z');
            """
        )
        let id = try await admin.query("SELECT id FROM releases").value(as: Int64.self)
        let time = try #require(Timestamp("2026-03-01T12:00:00Z"))
        let change = try await PolicyEditing(admin, logger: TestDatabase.logger)
            .edit(by: EditAuthor(osUser: nil, why: nil)) { editor in
                try editor.withdraw(id, at: time)
            }
        #expect(change?.rows.count == 1)
        let states = try await admin.transaction(.repeatableReadReadOnly) { session in
            try PolicyReports(session).releases(bundle: "a").map { "\($0.state) \($0.since?.description ?? "")" }
        }
        #expect(states == ["withdrawn 2099-01-01T00:00:00Z"])
    }
}
