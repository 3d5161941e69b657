import Postgres
import TestDatabase
import Testing

/// What two sessions undo at once; the rest is in `Tests/Cases/sql/undo.case`.
@Suite("Undo", .migratedDatabase)
struct UndoTests {
    @Test("An undo is refused in our words where two take back one deletion at once")
    func isRefusedToTheSecond() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute("INSERT INTO rules (key, title, text) VALUES ('k', 't', 'x')")
        try await owner.execute("DELETE FROM rules WHERE key = 'k'")
        // The second waits for the first: its row has the same key.
        let undo = "SELECT undo_change(2)"
        let (error, _) = try await waiting(undo, for: (undo, "COMMIT"), of: owner)
        #expect(error?.message == "change 2 cannot be undone: later changes are in the way")
        #expect(error?.detail == "rule k: inserted again by change 3")
    }
}
