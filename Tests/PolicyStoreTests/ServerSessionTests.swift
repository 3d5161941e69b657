import Postgres
import TestDatabase
import Testing

@testable import PolicyStore

@Suite("Sessions of servers", .migratedDatabase)
struct ServerSessionTests {
    @Test(
        "A server with all that can be wrong on it is still listed, with its port",
        arguments: [
            ("gate-1:8080", 0, [], "gate-1:8080"),
            ("gate-1:8080", 0, [.certificate], "gate-1:8080"),
            ("gate-1:8080", 0, [.certificate, .disk], "gate-1:8080"),
            ("gate-1:8080", 0, [.revision, .counts], "gate-1:8080"),
            ("gate-1:8080", -90, [.certificate, .disk], ":8080"),
            ("versiongate-5d8f9c7b6d-x2x7k:8080", 0, [.certificate], ":8080"),
            ("versiongate-5d8f9c7b6d-x2x7k:8080", -90_000, [.certificate, .disk], ":8080"),
        ] as [(String, Double, [ServerSession.Fault], String)]
    )
    func keepsAddress(_ address: String, _ offset: Double, _ faults: [ServerSession.Fault], _ end: String) async throws
    {
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        try await server.execute("SET application_name = 'versiongate serve'")
        for revision in [41, 1_234_567] as [Int64] {
            try await ServerSession.Description(
                revision: revision, address: address, databaseClockOffset: offset, faults: faults
            ).make(over: server)
            let found = try await server.withSession { try ServerSession.all($0) }
            #expect(found.count == 1, "\(address)")
            #expect(found.first?.revision == revision)
            #expect(found.first?.faults == faults)
            #expect(found.first?.clockOffset == Int(-offset))
            #expect(found.first?.address.hasSuffix(end) == true, "\(found)")
        }
    }
}
