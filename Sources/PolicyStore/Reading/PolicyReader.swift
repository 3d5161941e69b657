package import Postgres
package import UpdatePolicy

/// Reads the policy tables into plain values.
package enum PolicyReader {
    /// How long a read waits for a lock, so that somebody's `LOCK TABLE` delays a reload and nothing else.
    private static let lockTimeout = "2s"
    private static let statementTimeout = "30s"

    /// The channel on which the database announces new revisions.
    package static let channel = "versiongate"

    /// The current state of the policy tables; one short statement.
    ///
    /// - Throws: ``SchemaError/notInstalled``; `PostgresError`.
    package static func version(_ session: PostgresSession) throws -> PolicyVersion {
        try versionAndTime(session).version
    }

    /// The version of the policy tables, and the clock of the database beside that of this machine.
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

    /// Whether the history of the database has made this state of the policy.
    package static func isInHistory(_ version: PolicyVersion, _ session: PostgresSession) throws -> Bool {
        try session.query(
            "SELECT versiongate_internal.history_has($1, $2)",
            [version.revision, version.token]
        ).value(as: Bool.self)
    }

    /// Whether the database is a standby, which can lag behind its primary.
    package static func isStandby(_ session: PostgresSession) throws -> Bool {
        try session.query("SELECT pg_is_in_recovery()").value(as: Bool.self)
    }

    /// Reads the whole policy as one moment's state.
    ///
    /// - Parameter revision: The policy as it stood at this revision, rebuilt from the history; nil for today's.
    /// - Throws: ``SchemaError`` if this binary cannot read the schema; `PostgresError`, also where there is no such
    ///   revision.
    package static func policy(_ connection: PostgresConnection, revision: Int64? = nil) async throws -> Policy {
        try await reading(connection) { try policy($0, revision: revision) }
    }

    /// Reads the policy, or some apps with all that belongs to them and the rules for every app, as the transaction of
    /// `session` sees it.
    ///
    /// - Parameters:
    ///   - bundles: The apps, case does not count; those that are not there are left out; nil for all.
    ///   - revision: The policy as it stood at this revision, rebuilt from the history; nil for today's.
    /// - Throws: ``SchemaError/notInstalled``; `PostgresError`, also where there is no such revision.
    package static func policy(
        _ session: PostgresSession,
        bundles: [String]? = nil,
        revision: Int64? = nil,
        detail: PolicyDetail = .served
    ) throws -> Policy {
        var part = PolicyPart(revision: revision)
        if let bundles {
            part.bundles = try session.query(
                """
                SELECT bundle FROM \(part.rows(of: .apps))
                WHERE lower(bundle COLLATE "C") IN (SELECT lower(named COLLATE "C") FROM unnest($1::text[]) AS named)
                """,
                [bundles]
            ).values()
        }
        var policy = try policy(session, of: part, detail)
        if let revision {
            policy.revision = revision
            policy.token += "@\(revision)"
        }
        return policy
    }

    /// Reads all that people edit.
    ///
    /// - Throws: also ``SchemaError/unknownColumns(_:)`` where a table has a column that would be left out of all apps.
    package static func editedPolicy(
        _ session: PostgresSession,
        bundles: [String]? = nil,
        revision: Int64? = nil
    ) throws -> Policy {
        if bundles == nil { try requireKnownColumns(session) }
        return try policy(session, bundles: bundles, revision: revision, detail: .edited)
    }

    /// Reads what differs from an earlier state, as one moment's state.
    ///
    /// - Returns: nil where the history does not go back that far, or so much changed that reading everything is as fast.
    package static func update(_ connection: PostgresConnection, since known: PolicyVersion) async throws
        -> PolicyUpdate?
    {
        try await reading(connection) { session in
            let changed = try session.query(
                "SELECT versiongate_internal.apps_changed_since($1, $2::uuid)",
                [known.revision, known.token]
            ).value(as: [String?]?.self)
            guard let changed else { return nil }
            let part = PolicyPart(bundles: changed.compactMap(\.self), rulesForEveryApp: changed.contains(nil))
            return PolicyUpdate(
                bundles: changed.compactMap(\.self), includesRulesForEveryApp: part.rulesForEveryApp,
                policy: try policy(session, of: part)
            )
        }
    }

    private static func reading<Result: Sendable>(
        _ connection: PostgresConnection,
        _ read: @Sendable (PostgresSession) throws -> Result
    ) async throws -> Result {
        try await connection.transaction(.repeatableReadReadOnly) { session in
            _ = try session.query(
                "SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)",
                [lockTimeout, statementTimeout]
            )
            try requireReadable(session)
            return try read(session)
        }
    }

    private static func policy(
        _ session: PostgresSession,
        of part: PolicyPart,
        _ detail: PolicyDetail = .served
    ) throws -> Policy {
        let version = try version(session)
        return Policy(
            revision: version.revision, token: version.token, apps: try apps(session, part, detail),
            releases: try releases(session, part, detail), rules: try rules(session, part, detail)
        )
    }

    /// Refuses a schema that this binary cannot read, which the schema itself says.
    private static func requireReadable(_ session: PostgresSession) throws {
        let isInstalled = "SELECT to_regclass('versiongate_internal.schema_reader') IS NOT NULL"
        guard try session.query(isInstalled).value(as: Bool.self) else { throw SchemaError.notInstalled }
        let oldest = try session.query("SELECT oldest FROM versiongate_internal.schema_reader").value(as: String.self)
        guard Migration.all.contains(where: { $0.name == oldest }) else {
            throw SchemaError.unreadable(needs: oldest)
        }
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

    private static func apps(_ session: PostgresSession, _ part: PolicyPart, _ detail: PolicyDetail) throws -> [App] {
        let links: [UTF8Text: [StoreLink]] = try children(session, part, detail, where: part.condition)
        let templates: [UTF8Text: [FeedTemplate]] = try children(session, part, detail, where: part.condition)
        let reader = RecordReader<App>(detail, from: 0)
        return try session.query(
            "SELECT \(reader.selectList) FROM \(part.rows(of: .apps)) WHERE \(part.condition) ORDER BY bundle",
            part.parameters
        ).map { row in
            var app = try reader.record(row)
            app.storeLinks = links[UTF8Text(app.bundle)] ?? []
            app.feedTemplates = templates[UTF8Text(app.bundle)] ?? []
            return app
        }
    }

    private static func releases(
        _ session: PostgresSession,
        _ part: PolicyPart,
        _ detail: PolicyDetail
    ) throws -> [Release] {
        let notes: [UTF8Text: [ReleaseNote]] = try children(
            session, part, detail, where: part.condition(on: "release", of: .releases, by: "id"))
        let reader = RecordReader<Release>(detail, from: 1)
        let order = detail == .served ? "id" : orderOfReleases
        return try session.query(
            """
            SELECT id::bigint, \(reader.selectList)
            FROM \(part.rows(of: .releases)) WHERE \(part.condition) ORDER BY \(order)
            """,
            part.parameters
        ).map { row in
            var release = try reader.record(row)
            release.id = try row.decode(0)
            release.notes = notes[UTF8Text("\(release.id)")] ?? []
            return release
        }
    }

    private static func rules(_ session: PostgresSession, _ part: PolicyPart, _ detail: PolicyDetail) throws -> [Rule] {
        let isOfRule = part.condition(on: "rule", of: .rules, by: "key")
        let texts: [UTF8Text: [RuleText]] = try children(session, part, detail, where: isOfRule)
        let steps: [UTF8Text: [RolloutStep]] = try children(session, part, detail, where: isOfRule)
        var attributes: [UTF8Text: [AttributeCondition]] = [:]
        for row in try session.query(
            """
            SELECT rules.key, attribute.key AS name, ARRAY(SELECT jsonb_array_elements_text(attribute.value)) AS values
            FROM \(part.rows(of: .rules)), jsonb_each(rules.attributes) AS attribute
            WHERE \(part.condition)
            """,
            part.parameters
        ) {
            attributes[UTF8Text(try row.decode("key")), default: []].append(
                AttributeCondition(name: try row.decode("name"), values: try row.decode("values"))
            )
        }
        let reader = RecordReader<Rule>(detail, from: 0)
        return try session.query(
            "SELECT \(reader.selectList) FROM \(part.rows(of: .rules)) WHERE \(part.condition) ORDER BY key",
            part.parameters
        ).map { row in
            var rule = try reader.record(row)
            let key = UTF8Text(rule.key)
            rule.attributes = attributes[key]
            rule.texts = texts[key] ?? []
            rule.steps = steps[key] ?? []
            return rule
        }
    }

    /// The records that belong to an app, a release or a rule, by the bundle, the id or the key of that.
    private static func children<Record: PolicyRecord>(
        _ session: PostgresSession,
        _ part: PolicyPart,
        _ detail: PolicyDetail,
        where condition: String
    ) throws -> [UTF8Text: [Record]] {
        let reader = RecordReader<Record>(detail, from: 1)
        let identity = Record.table.identity.map(\.name)
        var children: [UTF8Text: [Record]] = [:]
        for row in try session.query(
            """
            SELECT \(identity[0])::text, \(reader.selectList) FROM \(part.rows(of: Record.table))
            WHERE \(condition) ORDER BY \(identity.joined(separator: ", "))
            """,
            part.parameters
        ) {
            children[UTF8Text(try row.decode(0)), default: []].append(try reader.record(row))
        }
        return children
    }

    /// An order of releases that depends on their contents alone, except for releases that are equal in everything.
    private static let orderOfReleases = """
        bundle, platform, versiongate_internal.version_key(version), version,
        versiongate_internal.version_key(build) NULLS FIRST, build, regions NULLS FIRST, live_at NULLS FIRST,
        withdrawn_at NULLS FIRST, staged, min_os NULLS FIRST, note COLLATE "C" NULLS FIRST, id
        """
}

// MARK: - Single facts of rules and apps

extension PolicyReader {
    /// The bundle that a rule is for, nil within for every app; nil if there is no such rule.
    package static func bundle(ofRule key: String, _ session: PostgresSession) throws -> String?? {
        try session.query("SELECT bundle FROM public.rules WHERE key = $1", [key]).values(as: String?.self).first
    }

    /// The note of a rule, which is for those who edit and which no server keeps.
    package static func note(ofRule key: String, _ session: PostgresSession) throws -> String? {
        try session.query("SELECT note FROM public.rules WHERE key = $1", [key]).values(as: String?.self).first ?? nil
    }

    package static func bundles(_ session: PostgresSession) throws -> [String] {
        try session.query("SELECT bundle FROM public.apps ORDER BY bundle").values()
    }

    /// The keys of the rules for every app that are enabled and not over, in order.
    package static func activeRulesForEveryApp(_ session: PostgresSession) throws -> [String] {
        try session.query(
            "SELECT key FROM public.rules WHERE bundle IS NULL AND enabled AND (ends_at IS NULL OR ends_at > now()) ORDER BY key"
        ).values()
    }

    /// The bundle of the app with a name, case aside; nil where none or several have it.
    package static func bundle(ofAppNamed name: String, _ session: PostgresSession) throws -> String? {
        let query = "SELECT bundle FROM public.apps WHERE lower(name) = lower($1)"
        let bundles = try session.query(query, [name]).values(as: String.self)
        return bundles.count == 1 ? bundles[0] : nil
    }

    /// The keys of all rules, and of those that were removed.
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

/// The identity of one state of the policy tables.
package struct PolicyVersion: Sendable, Hashable, Decodable {
    /// The id of the newest change, which never decreases except by a restore.
    package let revision: Int64
    /// A UUID that is new for every change, so that two histories with the same revisions differ.
    package let token: String

    package init(revision: Int64, token: String) {
        self.revision = revision
        self.token = token
    }
}
