import Dispatch
import Postgres
import Synchronization
import TestDatabase
import TestSystem
import Testing

/// Has an admin edit while a transaction of `owner` holds the lock of commits, and ends that once the edit waits.
///
/// - Returns: Why the edit was refused, and the size of the table of recorded rows before it, while it waited and after.
func waiting(
    _ edit: String,
    for others: (begin: String, end: String),
    of owner: PostgresConnection,
    onNotice: (@Sendable (PostgresNotice) -> Void)? = nil
) async throws -> (error: PostgresError?, room: [Int64]) {
    let editor = try await TestDatabase.current.connect(user: "versiongate_admin", onNotice: onNotice)
    let process = try await editor.query("SELECT pg_backend_pid()").value(as: Int32.self)
    // What any session can see of rows that are not committed: the room that they take.
    let measure = "SELECT pg_relation_size('versiongate_internal.recorded_rows')"
    return try await owner.withSession { session in
        let refusal = Mutex<PostgresError?>(nil)
        let ended = DispatchSemaphore(value: 0)
        try session.execute("BEGIN; \(others.begin)")
        var room = [try session.query(measure).value(as: Int64.self)]
        Task {
            do {
                try await editor.execute(edit)
            } catch {
                refusal.withLock { $0 = error as? PostgresError }
            }
            ended.signal()
        }
        while try session.query("SELECT cardinality(pg_blocking_pids($1)) = 0", [process]).value(as: Bool.self) {}
        room.append(try session.query(measure).value(as: Int64.self))
        try session.execute(others.end)
        #expect(ended.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
        room.append(try session.query(measure).value(as: Int64.self))
        return (refusal.withLock { $0 }, room)
    }
}
