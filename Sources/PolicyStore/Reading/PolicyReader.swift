package import Postgres
package import UpdatePolicy

package enum PolicyReader {
    package static let channel = "versiongate"

    package static func version(_ session: PostgresSession) throws -> PolicyVersion {
        try versionAndTime(session).version
    }

    package static func versionAndClock(
        _ session: PostgresSession,
        machine: () -> Timestamp
    ) throws -> (version: PolicyVersion, clock: DatabaseClock) {
        let asked = machine()
        let (version, now) = try versionAndTime(session)
        return (version, DatabaseClock(now: now, asked: asked, answered: machine()))
    }

    private static func versionAndTime(_ session: PostgresSession) throws -> (version: PolicyVersion, now: Timestamp) {
        do {
            let found = try session.query(
                "SELECT revision, token::text, clock_timestamp() AS now FROM public.policy_revision"
            )
            guard let version = try found.rows(as: PolicyVersion.self).first else { throw SchemaError.notInstalled }
            return (version, try found[0].decode("now"))
        } catch let error as PostgresError where error.sqlState == .undefinedTable {
            throw SchemaError.notInstalled
        }
    }

    package static func isInHistory(_ version: PolicyVersion, _ session: PostgresSession) throws -> Bool {
        try session.query("SELECT versiongate_internal.history_has($1, $2)", [version.revision, version.token]).value()
    }

    package static func isStandby(_ session: PostgresSession) throws -> Bool {
        try session.query("SELECT pg_is_in_recovery()").value()
    }

    package static func policy(_ connection: PostgresConnection, revision: Int64? = nil) async throws -> Policy {
        try await reading(connection) { try policy($0, revision: revision) }
    }

    /// Reads the policy, or some apps (case aside, as far as they are there) with all that belongs to them and the rules
    /// for every app; as it stood at a revision, rebuilt from the history, or as it is.
    package static func policy(
        _ session: PostgresSession,
        bundles: [String]? = nil,
        revision: Int64? = nil,
        detail: PolicyDetail = .served
    ) throws -> Policy {
        var tables = PolicyTables(session: session, detail: detail, revision: revision)
        if let bundles {
            tables.bundles = try session.query(
                """
                SELECT bundle FROM \(tables.rows(of: .apps))
                WHERE lower(bundle COLLATE "C") IN (SELECT lower(named COLLATE "C") FROM unnest($1::text[]) AS named)
                """,
                [bundles]
            ).values()
        }
        var policy = try tables.policy()
        if let revision {
            policy.revision = revision
            policy.token = try PolicyHistory(session).version(of: revision).token
        }
        return policy
    }

    /// Reads all that people edit; of all apps only where no table has a column that would be left out.
    package static func editedPolicy(
        _ session: PostgresSession,
        bundles: [String]? = nil,
        revision: Int64? = nil
    ) throws -> Policy {
        if bundles == nil { try requireKnownColumns(session) }
        return try policy(session, bundles: bundles, revision: revision, detail: .edited)
    }

    /// Reads what differs from an earlier state; nil where that is too long ago, or reading everything is as fast.
    package static func update(_ connection: PostgresConnection, since known: PolicyVersion) async throws
        -> PolicyUpdate?
    {
        try await reading(connection) { session in
            let changed: [String?]? = try session.query(
                "SELECT versiongate_internal.apps_changed_since($1, $2::uuid)",
                [known.revision, known.token]
            ).value()
            guard let changed else { return nil }
            let bundles = changed.compactMap(\.self)
            let tables = PolicyTables(session: session, bundles: bundles, rulesForEveryApp: changed.contains(nil))
            return PolicyUpdate(
                bundles: bundles, includesRulesForEveryApp: tables.rulesForEveryApp, policy: try tables.policy()
            )
        }
    }

    private static func reading<Result: Sendable>(
        _ connection: PostgresConnection,
        _ read: @Sendable (PostgresSession) throws -> Result
    ) async throws -> Result {
        try await connection.transaction(.repeatableReadReadOnly) { session in
            // Somebody's `LOCK TABLE` delays a reload and nothing else.
            try session.setTimeouts(statement: "30s")
            try requireReadable(session)
            return try read(session)
        }
    }

    private static func requireReadable(_ session: PostgresSession) throws {
        let isInstalled = "SELECT to_regclass('versiongate_internal.schema_reader') IS NOT NULL"
        guard try session.query(isInstalled).value() else { throw SchemaError.notInstalled }
        let oldest: String = try session.query("SELECT oldest FROM versiongate_internal.schema_reader").value()
        guard Migration.all.contains(where: { $0.name == oldest }) else { throw SchemaError.unreadable(needs: oldest) }
    }

    /// Refuses tables with unknown columns: an export would leave them out, and applying a file would clear them.
    private static func requireKnownColumns(_ session: PostgresSession) throws {
        let known = PolicyTable.allCases.flatMap { table in
            (table.columns.map(\.name) + (table.idColumn.map { [$0] } ?? [])).map { "\(table.rawValue).\($0)" }
        }
        let unknown = try session.query(
            """
            SELECT named.name || '.' || a.attname
            FROM unnest($1::text[]) AS named (name)
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = to_regclass('public.' || named.name)
            WHERE a.attnum > 0 AND NOT a.attisdropped AND named.name || '.' || a.attname <> ALL ($2::text[])
            ORDER BY 1
            """,
            [PolicyTable.allCases.map(\.rawValue), known]
        ).values(as: String.self)
        guard unknown.isEmpty else { throw SchemaError.unknownColumns(unknown) }
    }

    /// The bundle that a rule is for, nil within for every app; nil if there is no such rule.
    package static func bundle(ofRule key: String, _ session: PostgresSession) throws -> String?? {
        try session.query("SELECT bundle FROM public.rules WHERE key = $1", [key]).values(as: String?.self).first
    }

    package static func note(ofRule key: String, _ session: PostgresSession) throws -> String? {
        try session.query("SELECT note FROM public.rules WHERE key = $1", [key]).values(as: String?.self).first ?? nil
    }

    package static func bundles(_ session: PostgresSession) throws -> [String] {
        try session.query("SELECT bundle FROM public.apps ORDER BY bundle").values()
    }

    package static func activeRulesForEveryApp(_ session: PostgresSession) throws -> [String] {
        try session.query(
            "SELECT key FROM public.rules WHERE bundle IS NULL AND enabled AND (ends_at IS NULL OR ends_at > now()) ORDER BY key"
        ).values()
    }

    /// The bundle of the app with a name, case aside; nil where none or several have it.
    package static func bundle(ofAppNamed name: String, _ session: PostgresSession) throws -> String? {
        let bundles: [String] = try session.query(
            "SELECT bundle FROM public.apps WHERE lower(name) = lower($1)",
            [name]
        ).values()
        return bundles.count == 1 ? bundles[0] : nil
    }

    package static func usedKeys(_ session: PostgresSession) throws -> [String] {
        try session.query(
            """
            SELECT key FROM public.rules
            UNION SELECT key ->> 'key' FROM public.change_rows WHERE table_name = 'rules' AND after IS NULL
            """
        ).values()
    }

    package static func ruleKeys(_ session: PostgresSession) throws -> [String] {
        try session.query("SELECT key FROM public.rules ORDER BY key").values()
    }
}

package struct PolicyVersion: Sendable, Hashable, Decodable {
    /// The id of the newest change, which never decreases except by a restore.
    package let revision: Int64
    /// A UUID that is new for every change, so that two histories with the same revisions differ.
    package let token: String

    package init(revision: Int64, token: String) { (self.revision, self.token) = (revision, token) }
}

extension Policy {
    package var version: PolicyVersion { PolicyVersion(revision: revision, token: token) }
}
