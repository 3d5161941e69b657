import Dispatch
import Postgres
import Synchronization
import TestDatabase
import TestRandom
import TestSystem
import Testing

/// What only the whole transaction can tell to be wrong is refused, whenever and in whatever order it is judged.
@Suite("Guards", .migratedDatabase)
struct GuardTests {
    private static let example = """
        INSERT INTO apps (bundle) VALUES ('a'), ('b');
        INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2', '2020-01-01Z');
        INSERT INTO rules (key, bundle, title, text, link, versions, lockout)
        VALUES ('k', 'a', 't', 'x', 'https://a.example', '<2', true);
        INSERT INTO rules (key, bundle, title, text, target, rollout) VALUES ('t', 'a', 't', 'x', '2', 0);
        """

    /// The messages of the warnings that a connection got.
    private final class Warnings: Sendable {
        private let messages = Mutex<[String]>([])

        func add(_ notice: PostgresNotice) {
            if notice.isWarning { messages.withLock { $0.append(notice.message) } }
        }

        /// The warnings since the last call.
        func next() -> [String] {
            messages.withLock { messages in
                defer { messages = [] }
                return messages
            }
        }
    }

    private func admin(_ script: String = example, warnings: Warnings = Warnings()) async throws -> PostgresConnection {
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin") { warnings.add($0) }
        try await connection.execute(script)
        _ = warnings.next()
        return connection
    }

    private func refuses(_ connection: PostgresConnection, _ script: String, _ constraint: String) async throws {
        let before = try await connection.query("SELECT max(id) FROM changes").value(as: Int64.self)
        let error = await #expect(throws: PostgresError.self, "\(script)") { try await connection.execute(script) }
        #expect(error?.constraint == constraint, "\(script)")
        try await connection.execute("ROLLBACK")
        #expect(try await connection.query("SELECT max(id) FROM changes").value(as: Int64.self) == before)
    }

    /// Two edits that are right each by itself, in two transactions at once, and what refuses the second.
    static let pairs: [(first: String, second: String, constraint: String)] = [
        (
            "INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '3.0')",
            "INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '3.0.0')", "releases_version_guard"
        ),
        (
            "INSERT INTO rollout_steps VALUES ('t', '2030-01-01Z', 90)",
            "INSERT INTO rollout_steps VALUES ('t', '2030-01-02Z', 10)", "rollout_steps_rollout_guard"
        ),
        (
            "UPDATE rules SET target = NULL WHERE key = 't'",
            "INSERT INTO rule_texts VALUES ('t', 'de', '{target}', 'x')", "rule_texts_placeholder_guard"
        ),
        ("DELETE FROM releases", "UPDATE rules SET enabled = true WHERE key = 'k'", "rules_lockout_guard"),
    ]

    @Test(
        "A refusal has the columns that tell its row, as JSON in the field of the data type",
        arguments: [
            (
                "INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '3.0'), ('a', 'ios', '3.0.0')",
                "releases", #"{"build": null, "bundle": "a", "version": "3.0", "platform": "ios"}"#
            ),
            (
                "INSERT INTO releases (bundle, platform, version, build) SELECT 'a', 'ios', '3', '7' FROM generate_series(1, 2)",
                "releases", #"{"build": "7", "bundle": "a", "version": "3", "platform": "ios"}"#
            ),
            (
                "INSERT INTO rollout_steps VALUES ('t', '2030-01-01Z', 90), ('t', '2030-01-02Z', 10)",
                "rollout_steps", #"{"rule": "t"}"#
            ),
            (
                "UPDATE rules SET target = NULL WHERE key = 't'; INSERT INTO rule_texts VALUES ('t', 'de', '{target}', 'x')",
                "rule_texts", #"{"rule": "t", "language": "de"}"#
            ),
            ("DELETE FROM releases; UPDATE rules SET enabled = true WHERE key = 'k'", "rules", #"{"key": "k"}"#),
        ]
    )
    func namesTheRow(script: String, table: String, row: String) async throws {
        let connection = try await admin()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute("BEGIN; \(script); COMMIT")
        }
        #expect(error?.table == table)
        #expect(error?.dataType?.contains("\"row\": \(row)") == true, "\(error?.dataType ?? "")")
    }

    @Test(
        "Of two transactions that are wrong together the later is refused", arguments: Trials.some(pairs),
        [false, true]
    )
    func judgesUnderTheLock(
        _ pair: (first: String, second: String, constraint: String),
        immediate: Bool
    ) async throws {
        let later = try await admin()
        let earlier = try await TestDatabase.current.connect(user: "versiongate_admin")
        let script = "BEGIN; \(immediate ? "SET CONSTRAINTS ALL IMMEDIATE;" : "") \(pair.first); COMMIT"
        try await later.withSession { session in
            try session.execute("BEGIN; \(pair.second)")
            let committed = DispatchSemaphore(value: 0)
            Task {
                try await earlier.execute(script)
                committed.signal()
            }
            #expect(committed.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
            let error = #expect(throws: PostgresError.self) { try session.execute("COMMIT") }
            #expect(error?.constraint == pair.constraint)
        }
    }

    /// Transactions whose last statement makes an earlier one wrong, with @ where constraints may be made immediate.
    static let outcomes: [(script: String, constraint: String)] = [
        (
            """
            INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '99');@
            UPDATE rules SET versions = '<99', enabled = true WHERE key = 'k';@ DELETE FROM releases WHERE version = '99'
            """, "rules_lockout_guard"
        ),
        (
            "UPDATE rules SET enabled = true WHERE key = 'k';@ UPDATE releases SET withdrawn_at = '2026-01-01Z'",
            "rules_lockout_guard"
        ),
        ("UPDATE rules SET enabled = true WHERE key = 'k';@ UPDATE releases SET bundle = 'b'", "rules_lockout_guard"),
        (
            """
            UPDATE apps SET bundle = 'A' WHERE bundle = 'a';@ UPDATE rules SET enabled = true WHERE key = 'k';@
            DELETE FROM releases
            """, "rules_lockout_guard"
        ),
        (
            "INSERT INTO rule_texts VALUES ('t', 'de', '{target}', 'x');@ UPDATE rules SET target = NULL WHERE key = 't'",
            "rule_texts_placeholder_guard"
        ),
        (
            """
            UPDATE rules SET ends_at = '2030-01-01Z' WHERE key = 't'; INSERT INTO rule_texts VALUES ('t', 'de', 'x', '{date}');@
            UPDATE rules SET ends_at = NULL WHERE key = 't'
            """, "rule_texts_placeholder_guard"
        ),
        (
            """
            INSERT INTO rollout_steps VALUES ('t', '2030-01-01Z', 10), ('t', '2030-01-02Z', 20);@
            UPDATE rollout_steps SET rollout = 30 WHERE rollout = 10
            """, "rollout_steps_rollout_guard"
        ),
        (
            """
            INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '3'), ('a', 'ios', '3.0.1');@
            UPDATE releases SET version = '3.0' WHERE version = '3.0.1'
            """, "releases_version_guard"
        ),
    ]

    @Test(
        "An edit that makes an earlier one wrong is refused, wherever constraints became immediate",
        arguments: Trials.some(outcomes)
    )
    func judgesAgain(_ outcome: (script: String, constraint: String)) async throws {
        let connection = try await admin()
        let parts = outcome.script.split(separator: "@").map(String.init)
        for immediate in -1..<parts.count {
            let script = parts.enumerated().map { index, part in
                (index == immediate ? "SET CONSTRAINTS ALL IMMEDIATE;" : "") + part
            }
            try await refuses(connection, "BEGIN; \(script.joined()); COMMIT", outcome.constraint)
        }
    }

    @Test("What is made right before it is judged is accepted")
    func acceptsTheOutcome() async throws {
        let connection = try await admin()
        try await connection.execute(
            """
            BEGIN; UPDATE rules SET versions = '<3', enabled = true WHERE key = 'k';
            INSERT INTO rollout_steps VALUES ('t', '2030-01-01Z', 90), ('t', '2030-01-02Z', 10);
            UPDATE rollout_steps SET rollout = 5 WHERE rollout = 90;
            INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '3'); COMMIT
            """
        )
        #expect(try await connection.query("SELECT enabled FROM rules WHERE key = 'k'").value(as: Bool.self))
    }

    @Test("An app takes its old lockouts along to another spelling, also if they have lost their release")
    func renamesWithLockouts() async throws {
        let warnings = Warnings()
        let connection = try await admin(warnings: warnings)
        try await connection.execute("UPDATE rules SET enabled = true WHERE key = 'k'")
        try await connection.execute("DELETE FROM releases")
        #expect(warnings.next() == ["nobody has a way out of rule \"k\" on ios"])
        try await connection.execute("UPDATE apps SET bundle = 'A' WHERE bundle = 'a'")
        #expect(try await connection.query("SELECT bundle FROM rules WHERE key = 'k'").value(as: String.self) == "A")
        try await connection.execute(
            "BEGIN; SET CONSTRAINTS ALL IMMEDIATE; UPDATE apps SET bundle = 'a' WHERE bundle = 'A'; COMMIT"
        )
        #expect(warnings.next() == [])
        try await refuses(connection, "UPDATE rules SET bundle = 'b' WHERE key = 'k'", "rules_lockout_guard")
        try await refuses(
            connection,
            "BEGIN; UPDATE rules SET bundle = 'b' WHERE key = 'k'; DELETE FROM apps WHERE bundle = 'a'; COMMIT",
            "rules_lockout_guard"
        )
    }

    @Test("Who takes the last way out of a lockout on a platform is warned, and rule_status says where there is none")
    func warnsOfLostWaysOut() async throws {
        let warnings = Warnings()
        let connection = try await admin(warnings: warnings)
        try await connection.execute(
            """
            INSERT INTO releases (bundle, platform, version, live_at)
            VALUES ('a', 'ios', '3', '2026-01-01Z'), ('a', 'android', '3', '2026-01-01Z');
            UPDATE rules SET enabled = true WHERE key = 'k'
            """
        )
        func closed() async throws -> String? {
            try await connection.query("SELECT reason FROM rule_status WHERE key = 'k'").value(as: String?.self)
        }
        #expect(try await closed() == nil)
        for (edit, platforms, message) in [
            ("DELETE FROM releases WHERE version = '2'", nil, nil), ("UPDATE releases SET note = 'n'", nil, nil),
            (
                "UPDATE releases SET staged = true WHERE platform = 'ios'", "no way out on ios",
                "nobody has a way out of rule \"k\" on ios"
            ),
            ("DELETE FROM releases WHERE platform = 'ios'", nil, nil),
            (
                "UPDATE releases SET version = '1'", "no way out on android",
                "nobody has a way out of rule \"k\" on android"
            ),
        ] as [(String, String?, String?)] {
            try await connection.execute(edit)
            #expect(try await closed() == platforms, "\(edit)")
            #expect(warnings.next() == [message].compactMap(\.self), "\(edit)")
        }
    }

    @Test("A lockout for every app is warned of for each app that has no way out of it")
    func judgesEveryApp() async throws {
        let warnings = Warnings()
        let connection = try await admin(warnings: warnings)
        try await connection.execute(
            """
            INSERT INTO releases (bundle, platform, version, live_at)
            VALUES ('b', 'ios', '1', now()), ('b', 'tvos', '1', now())
            """
        )
        try await connection.execute(
            """
            BEGIN; SET LOCAL versiongate.consent = 'k';
            UPDATE rules SET bundle = NULL, enabled = true WHERE key = 'k'; COMMIT
            """
        )
        #expect(warnings.next() == ["nobody has a way out of rule \"k\" on ios of b, tvos of b"])
    }

    /// Lockouts that are refused, and what is said of it: the case, and first what helps without locking anybody out.
    static let refusals: [(setup: String, versions: String, builds: String, detail: String, hint: String)] = [
        (
            "", "'<3'", "NULL", "The rule matches every release of a on ios that is not withdrawn: 2.",
            "Leave the release they are to get out of the rule"
        ),
        (
            "UPDATE releases SET withdrawn_at = '2026-01-01Z'", "'<2'", "NULL",
            "No release of a on ios is recorded that is not withdrawn.", "Add the release they are to get"
        ),
        (
            "INSERT INTO releases (bundle, platform, version, build) VALUES ('a', 'ios', '1.3', NULL), ('a', 'ios', '1.2', '113')",
            "NULL", "'113'",
            "These releases of a on ios have no build recorded, so the rule may be about them: 1.3, 2. It matches the others.",
            """
            Say in versions which version has these builds; or record the builds of the releases they are to get: \
            UPDATE releases SET build = '...' WHERE bundle = 'a' AND version = '2';
            """
        ),
    ]

    @Test(
        "A refused lockout says what is missing, and does not advertise to lock people out without an update",
        arguments: Trials.some(refusals)
    )
    func explains(
        _ refusal: (setup: String, versions: String, builds: String, detail: String, hint: String)
    ) async throws {
        let connection = try await admin()
        try await connection.execute(refusal.setup)
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute(
                """
                UPDATE rules SET enabled = true, platforms = '{ios}', versions = \(refusal.versions),
                    builds = \(refusal.builds) WHERE key = 'k'
                """
            )
        }
        #expect(error?.detail == refusal.detail)
        #expect(error?.hint?.hasPrefix(refusal.hint) == true, "\(error?.hint ?? "")")
        #expect(error?.hint?.contains("lockout_without_update is for maintenance") == true)
    }

    @Test("Rows are edited as before where everything is published, as for a logical upgrade")
    func canBePublished() async throws {
        let connection = try await admin()
        try await connection.execute(
            """
            INSERT INTO rollout_steps VALUES ('t', '2030-01-01Z', 10);
            INSERT INTO rule_texts VALUES ('t', 'de', 't', 'x'); INSERT INTO store_links VALUES ('a', 'ios', 'https://a.example')
            """
        )
        let owner = try await TestDatabase.current.connect()
        try await owner.execute("CREATE PUBLICATION everything FOR TABLE rollout_steps, rule_texts, store_links")
        try await connection.execute(
            "UPDATE rollout_steps SET rollout = 11; UPDATE rule_texts SET title = 'u'; DELETE FROM store_links"
        )
    }
}
