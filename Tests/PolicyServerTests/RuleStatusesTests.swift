import Postgres
import TestDatabase
import Testing

@testable import PolicyServer

@Suite("Statuses of rules in metrics", .migratedDatabase)
struct RuleStatusesTests {
    private static func counted(_ service: RuleStatuses) -> Set<Substring> {
        let lines = ServerMetrics(state: .test(), ruleStatuses: service).document.split(separator: "\n").filter {
            $0.hasPrefix("versiongate_policy_rule_status{")
        }
        return Set(lines.filter { !$0.hasSuffix(" 0") }.map { $0.dropFirst("versiongate_policy_rule_status".count) })
    }

    @Test("Rules are counted by what the database says of them; what it said last stands while it says nothing")
    func counts() async throws {
        let database = TestDatabase.current
        let owner = try await database.connect()
        try await owner.execute(
            """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES
                ('a', 'ios', '2', now() - interval '1 hour'), ('a', 'android', '2', now() + interval '1 day');
            INSERT INTO rules (key, bundle, versions, lockout, enabled, title, text) VALUES
                ('here', 'a', '<2', true, true, 'T', 'X'), ('later', 'a', '<1', true, true, 'T', 'X'),
                ('off', 'a', NULL, false, false, 'T', 'X');
            """
        )
        let url = database.url(user: "versiongate_server")
        let service = RuleStatuses(.test(database: { PostgresConfiguration(connectionString: url) }))
        #expect(Self.counted(service).isEmpty)
        await service.ask()
        let off: Substring = #"{lockout="false",status="disabled"} 1"#
        #expect(Self.counted(service) == [off, #"{lockout="true",status="partly without lockout"} 2"#])
        try await owner.execute("UPDATE rules SET platforms = '{ios}' WHERE key = 'here'")
        try await owner.execute("UPDATE rules SET platforms = '{android}' WHERE key = 'later'")
        await service.ask()
        let known: Set<Substring> = [
            off, #"{lockout="true",status="on"} 1"#, #"{lockout="true",status="on without lockout"} 1"#,
        ]
        #expect(Self.counted(service) == known)
        try await owner.execute("ALTER VIEW rule_status RENAME TO lost")
        await service.ask()
        #expect(Self.counted(service) == known)
    }
}
