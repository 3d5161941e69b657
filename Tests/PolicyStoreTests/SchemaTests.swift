import Foundation
import Postgres
import TestDatabase
import TestSystem
import Testing

/// What the guide says of the schema; what holds of everything in it is in `Tests/Cases/sql/schema.case`.
@Suite("Schema", .migratedDatabase)
struct SchemaTests {
    @Test("The guide for SQL calls nothing that only serves others")
    func hidesWhatIsInternal() async throws {
        let owner = try await TestDatabase.current.connect()
        let names = try await owner.query(
            "SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = 'versiongate_internal'::regnamespace"
        )
        .map { try $0.decode(0, as: String.self) }
        let guide = try String(contentsOf: RepositoryFile.url("Documentation/SQL.md"), encoding: .utf8)
        #expect(names.count > 100)
        #expect(names.filter { guide.contains("\($0)(") } == [])
    }
}
