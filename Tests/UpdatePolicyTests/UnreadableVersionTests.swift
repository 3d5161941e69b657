import TestPolicies
import Testing
import UpdatePolicy

@Suite("Unreadable versions")
struct UnreadableVersionTests {
    private func client(_ bundle: String, _ version: String?, _ checks: Int64) throws -> WeightedClient {
        let members = [("bundle", bundle)] + (version.map { [("version", $0)] } ?? [])
        return WeightedClient(try TestPolicy.client(of: members), checks: checks)
    }

    @Test("Versions that cannot be read are counted by app, with the most frequent as examples")
    func byApp() throws {
        let apps = UnreadableVersions.byApp(among: [
            try client("com.b", "2.1.3.alpha.42", 5), try client("com.b", "1.2", 70), try client("com.b", nil, 10),
            try client("com.b", "2.1.3.alpha.42", 4), try client("com.b", "5.1.4 [2195]", 8),
            try client("com.b", "a", 2), try client("com.b", "b", 1), try client("com.a", "1.2", 50),
            try client("com.c", "?", 1),
        ])
        #expect(apps.map(\.bundle) == ["com.b", "com.c"])
        #expect(apps[0].checks == 20)
        #expect(apps[0].allChecks == 100)
        #expect(apps[0].examples.map(\.version) == ["2.1.3.alpha.42", "5.1.4 [2195]", "a"])
        #expect(apps[0].examples.map(\.checks) == [9, 8, 2])
    }
}
