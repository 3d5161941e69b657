import Postgres
import TestDatabase
import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("Chart queries", .migratedDatabase)
struct ChartQueryTests {
    /// How often tables were scanned while `read` ran.
    private func scans(
        _ session: PostgresSession, of tables: [String] = ["check_counts", "rule_counts", "change_rows"],
        _ read: () throws -> Void
    ) throws -> Int64 {
        func scans() throws -> Int64 {
            try session.query(
                """
                SELECT sum(coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::int8 FROM pg_stat_xact_all_tables
                WHERE relid = ANY ($1::regclass[])
                """,
                [tables]
            ).value(as: Int64.self)
        }
        let before = try scans()
        try read()
        return try scans() - before
    }

    @Test("One chart of an app costs its own queries and not those of the others")
    func app() async throws {
        let counted = try await CountedChecks()
        try await counted.add("(1, 'a', 'ios', '1.2', 'DE', '17.1', 40, 10, 4)")
        let (regions, all) = try await counted.connection.transaction(.repeatableReadReadOnly) { session in
            let policy = try PolicyReader.policy(session, bundles: ["a"])
            func charts() -> [ChartQuery] {
                AppCounts(bundle: "a", in: policy, days: 7, at: CountedChecks.now, session).charts
            }
            return (
                try scans(session) { _ = try #require(try charts().first { $0.name == "regions" }?.chart()) },
                try scans(session) { for chart in charts() { _ = try chart.chart() } }
            )
        }
        #expect(regions == 2, "the checks of each step, and those by region")
        #expect(all > 2 * regions)
    }

    @Test("How often a rule was sent is read without the checks by which its reach is judged")
    func rule() async throws {
        let counted = try await CountedChecks()
        try await counted.add("(1, 'a', 'ios', '1.2', 'DE', '17.1', 40, 10, 4)")
        try await counted.connection.transaction(.repeatableReadReadOnly) { session in
            let rule = Rule(key: "r", title: "T", text: "X") {
                $0.bundle = "a"
            }
            let policy = Policy(revision: 1, token: "t", apps: [], releases: [], rules: [rule])
            let counts = RuleCounts(of: rule, in: policy, days: 1, at: CountedChecks.now, session)
            #expect(counts.charts.map(\.name) == ["reach", "sent"])
            let scans = try scans(session, of: ["check_counts"]) { _ = try counts.charts[1].chart() }
            #expect(scans == 0)
        }
    }
}
