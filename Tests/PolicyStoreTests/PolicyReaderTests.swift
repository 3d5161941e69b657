import Postgres
import TestDatabase
import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("Policy reader", .migratedDatabase)
struct PolicyReaderTests {
    @Test("The reader sees one moment, and gives up soon when a table is locked")
    func givesUpOnALock() async throws {
        let locker = try await TestDatabase.current.connect()
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        try await locker.transaction(.readWrite) { session in
            try session.execute("LOCK TABLE rules")
            session.hold {
                let error = await #expect(throws: PostgresError.self) { try await PolicyReader.policy(server) }
                #expect(error?.sqlState == .lockNotAvailable)
            }
        }
    }
}
