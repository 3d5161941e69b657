import Dispatch
import Postgres
import Synchronization
import TestDatabase
import TestSystem
import Testing

/// What two sessions undo at once; the rest is in `Tests/Cases/sql/undo.case`.
@Suite("Undo", .migratedDatabase)
struct UndoTests {
    @Test("An undo is refused in our words where two take back one deletion at once")
    func isRefusedToTheSecond() async throws {
        let first = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await first.execute("INSERT INTO rules (key, title, text) VALUES ('k', 't', 'x')")
        try await first.execute("DELETE FROM rules WHERE key = 'k'")
        let second = try await TestDatabase.current.connect(user: "versiongate_admin")
        let process = try await second.query("SELECT pg_backend_pid()").value(as: Int32.self)
        let error = try await first.withSession { session in
            try session.execute("BEGIN; SELECT undo_change(2)")
            let ended = DispatchSemaphore(value: 0)
            let refusal = Mutex<PostgresError?>(nil)
            Task {
                do {
                    try await second.execute("SELECT undo_change(2)")
                } catch {
                    refusal.withLock { $0 = error as? PostgresError }
                }
                ended.signal()
            }
            // The second waits for the first: its row has the same key.
            while try session.query("SELECT cardinality(pg_blocking_pids($1)) = 0", [process]).value(as: Bool.self) {}
            try session.execute("COMMIT")
            #expect(ended.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
            return refusal.withLock { $0 }
        }
        #expect(error?.message == "change 2 cannot be undone: later changes are in the way")
        #expect(error?.detail == "rule k: inserted again by change 3")
    }
}
