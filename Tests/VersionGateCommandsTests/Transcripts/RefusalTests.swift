import PolicyStore
import Postgres
import TestDatabase
import Testing

/// What programs read of a refusal, beside the words that the cases show.
@Suite("Refusals", .migratedDatabase)
struct RefusalTests {
    @Test(
        "The fields of a refusal say what its message says, and name the constraint and the cure",
        arguments: Transcript.names.filter { $0.hasPrefix("refusals/") }
    )
    func fields(_ name: String) async throws {
        let owner = try await TestDatabase.current.connect()
        var refusals = 0
        for step in try Transcript(name).cases.flatMap(\.steps) {
            do {
                try await owner.execute(step.text)
                continue
            } catch let error as PostgresError {
                refusals += 1
                check(error, "\(step.text)\n\(error.message)")
            }
            try await owner.execute("ROLLBACK")
        }
        #expect(refusals > 0)
    }

    private func check(_ error: PostgresError, _ comment: Comment) {
        if let column = error.message.prefixMatch(of: #/([a-z_]+)\.([a-z_]+): /#) {
            #expect(error.table == String(column.1), comment)
            #expect(error.column == String(column.2), comment)
            #expect(error.constraint != nil, comment)
            #expect(error.sqlState?.isIntegrityViolation == true, comment)
        }
        // A hint that only SQL users can follow has another for commands.
        let isSQL = error.hint?.contains(/\b(NULL|INSERT|UPDATE|DELETE|SELECT|SET|column)\b|[a-z]_[a-z]/) == true
        if isSQL, error.sqlState?.rawValue != "0A000" { #expect(PolicyFault(error.dataType)?.command != nil, comment) }
    }
}
