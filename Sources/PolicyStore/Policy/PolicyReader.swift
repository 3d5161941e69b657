// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Postgres
public import UpdatePolicy

/// Reads the policy tables into plain values.
public enum PolicyReader {
    /// How long a read waits for a lock, so that somebody's `LOCK TABLE` delays a reload and nothing else.
    private static let lockTimeout = "2s"
    /// How long one statement of a read may take.
    private static let statementTimeout = "30s"

    /// Which state the policy tables are in; one short statement.
    ///
    /// - Throws: ``SchemaError/notInstalled``; `PostgresError`.
    public static func version(_ session: PostgresSession) throws -> PolicyVersion {
        do {
            let rows = try session.query("SELECT revision, token::text FROM public.policy_revision")
            guard let row = rows.first else { throw SchemaError.notInstalled }
            return PolicyVersion(revision: try row.decode(0, as: Int64.self), token: try row.decode(1, as: String.self))
        } catch let error as PostgresError where error.sqlState == .undefinedTable {
            throw SchemaError.notInstalled
        }
    }

    /// Whether the history of the database has made this state of the policy.
    ///
    /// - Throws: `PostgresError`.
    public static func isInHistory(_ version: PolicyVersion, _ session: PostgresSession) throws -> Bool {
        try session.query(
            "SELECT public.history_has($1, $2)",
            [version.revision, version.token]
        ).value(as: Bool.self)
    }

    /// Whether the database is a standby, which can lag behind its primary.
    public static func isStandby(_ session: PostgresSession) throws -> Bool {
        try session.query("SELECT pg_is_in_recovery()").value(as: Bool.self)
    }

    /// Reads the whole policy as one moment's state.
    ///
    /// - Parameter revision: The policy as it stood at this revision, rebuilt from the history; nil for today's.
    /// - Throws: ``SchemaError`` if this binary cannot read the schema; `PostgresError`, also where there is no such
    ///   revision.
    public static func policy(_ connection: PostgresConnection, revision: Int64? = nil) async throws -> Policy {
        try await reading(connection) { try policy($0, revision: revision) }
    }

    /// Reads the whole policy as the transaction of `session` sees it.
    ///
    /// - Parameter revision: The policy as it stood at this revision, rebuilt from the history; nil for today's.
    /// - Throws: ``SchemaError/notInstalled``; `PostgresError`, also where there is no such revision.
    public static func policy(_ session: PostgresSession, revision: Int64? = nil) throws -> Policy {
        guard let revision else { return try policy(session, of: .everything) }
        var policy = try policy(session, of: .revision(revision))
        policy.revision = revision
        policy.token += "@\(revision)"
        return policy
    }

    /// Reads some apps with all that belongs to them, and the rules for every app, as the transaction of `session` sees
    /// them.
    ///
    /// - Parameter bundles: The apps, case does not count; those that are not there are left out; nil for all.
    public static func policy(_ session: PostgresSession, bundles: [String]?) throws -> Policy {
        guard let bundles else { return try policy(session, of: .everything) }
        let spelled = try session.query(
            """
            SELECT bundle FROM public.apps
            WHERE lower(bundle COLLATE "C") IN (SELECT lower(named COLLATE "C") FROM unnest($1::text[]) AS named)
            """,
            [bundles]
        ).map { try $0.decode(0, as: String.self) }
        return try policy(session, of: .apps(spelled, rulesForEveryApp: true))
    }

    /// Reads what differs from an earlier state, as one moment's state.
    ///
    /// - Returns: nil where the history does not tell, or tells of so much that everything is read as quickly.
    /// - Throws: as ``policy(_:)-(PostgresConnection)`` does.
    public static func update(_ connection: PostgresConnection, since known: PolicyVersion) async throws
        -> PolicyUpdate?
    {
        try await reading(connection) { session in
            let changed = try session.query(
                "SELECT public.apps_changed_since($1, $2::uuid)",
                [known.revision, known.token]
            ).value(as: [String?]?.self)
            guard let changed else { return nil }
            let part = PolicyPart.apps(changed.compactMap(\.self), rulesForEveryApp: changed.contains(nil))
            return PolicyUpdate(
                bundles: changed.compactMap(\.self),
                includesRulesForEveryApp: changed.contains(nil),
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

    private static func policy(_ session: PostgresSession, of part: PolicyPart) throws -> Policy {
        let version = try version(session)
        return Policy(
            revision: version.revision,
            token: version.token,
            apps: try apps(session, part),
            releases: try releases(session, part),
            rules: try rules(session, part)
        )
    }

    /// Refuses a schema that this binary cannot read, which the schema itself says.
    private static func requireReadable(_ session: PostgresSession) throws {
        guard try session.query("SELECT to_regclass('public.schema_reader') IS NOT NULL").value(as: Bool.self) else {
            throw SchemaError.notInstalled
        }
        let oldest = try session.query("SELECT oldest FROM public.schema_reader").value(as: String.self)
        guard Migration.all.contains(where: { $0.name == oldest }) else {
            throw SchemaError.unreadable(needs: oldest)
        }
    }

    private static func apps(_ session: PostgresSession, _ part: PolicyPart) throws -> [App] {
        var links: [String: [StoreLink]] = [:]
        for row in try session.query(
            """
            SELECT bundle, platform, link FROM \(part.rows(of: .storeLinks))
            WHERE \(part.condition) ORDER BY bundle, platform
            """,
            part.parameters
        ) {
            let link = StoreLink(platform: try row.decode(1, as: String.self), link: try row.decode(2, as: String.self))
            links[try row.decode(0, as: String.self), default: []].append(link)
        }
        return try session.query(
            "SELECT bundle, name, paused FROM \(part.rows(of: .apps)) WHERE \(part.condition) ORDER BY bundle",
            part.parameters
        ).map { row in
            let bundle = try row.decode(0, as: String.self)
            return App(
                bundle: bundle,
                name: try row.decode(1, as: String?.self),
                paused: try row.decode(2, as: Bool.self),
                storeLinks: links[bundle] ?? []
            )
        }
    }

    private static func releases(_ session: PostgresSession, _ part: PolicyPart) throws -> [Release] {
        try session.query(
            """
            SELECT id::bigint, bundle, platform, version, build, min_os, regions, live_at, staged, withdrawn_at
            FROM \(part.rows(of: .releases)) WHERE \(part.condition) ORDER BY id
            """,
            part.parameters
        ).map { row in
            Release(
                id: try row.decode(0, as: Int64.self),
                bundle: try row.decode(1, as: String.self),
                platform: try row.decode(2, as: String.self),
                version: try row.decode(3, as: String.self),
                build: try row.decode(4, as: String?.self),
                minOS: try row.decode(5, as: String?.self),
                regions: try row.decode(6, as: [String]?.self),
                liveAt: try row.decode(7, as: PostgresTimestamp?.self).map(Timestamp.init),
                staged: try row.decode(8, as: Bool.self),
                withdrawnAt: try row.decode(9, as: PostgresTimestamp?.self).map(Timestamp.init)
            )
        }
    }

    private static func rules(_ session: PostgresSession, _ part: PolicyPart) throws -> [Rule] {
        var texts: [String: [RuleText]] = [:]
        for row in try session.query(
            """
            SELECT rule, language, title, text FROM \(part.rows(of: .ruleTexts))
            WHERE \(part.conditionOnRule) ORDER BY rule, language
            """,
            part.parameters
        ) {
            let text = RuleText(
                language: try row.decode(1, as: String.self),
                title: try row.decode(2, as: String.self),
                text: try row.decode(3, as: String.self)
            )
            texts[try row.decode(0, as: String.self), default: []].append(text)
        }
        var steps: [String: [RolloutStep]] = [:]
        for row in try session.query(
            """
            SELECT rule, at, (rollout * 100)::int4 FROM \(part.rows(of: .rolloutSteps))
            WHERE \(part.conditionOnRule) ORDER BY rule, at
            """,
            part.parameters
        ) {
            let step = RolloutStep(
                at: Timestamp(try row.decode(1, as: PostgresTimestamp.self)),
                rollout: try Percentage(row: row, column: 2)
            )
            steps[try row.decode(0, as: String.self), default: []].append(step)
        }
        var attributes: [String: [AttributeCondition]] = [:]
        for row in try session.query(
            """
            SELECT rule.key, attribute.key, ARRAY(SELECT jsonb_array_elements_text(attribute.value))
            FROM \(part.rows(of: .rules)) AS rule, jsonb_each(rule.attributes) AS attribute
            WHERE \(part.condition)
            """,
            part.parameters
        ) {
            let condition = AttributeCondition(
                name: try row.decode(1, as: String.self),
                values: try row.decode(2, as: [String].self)
            )
            attributes[try row.decode(0, as: String.self), default: []].append(condition)
        }
        return try session.query(
            """
            SELECT key, bundle, enabled, position::int8, versions, builds, os, platforms, regions, languages, target,
                (extract(epoch FROM soak) * 1000000)::int8, (rollout * 100)::int4, starts_at, ends_at,
                title, text, link, lockout, lockout_without_update, final
            FROM \(part.rows(of: .rules)) WHERE \(part.condition) ORDER BY key
            """,
            part.parameters
        ).map { row in
            let key = try row.decode(0, as: String.self)
            return Rule(
                key: key,
                bundle: try row.decode(1, as: String?.self),
                enabled: try row.decode(2, as: Bool.self),
                position: Int(try row.decode(3, as: Int64.self)),
                versions: try row.decode(4, as: String?.self),
                builds: try row.decode(5, as: String?.self),
                os: try row.decode(6, as: String?.self),
                platforms: try row.decode(7, as: [String]?.self),
                regions: try row.decode(8, as: [String]?.self),
                languages: try row.decode(9, as: [String]?.self),
                attributes: attributes[key],
                target: try row.decode(10, as: String?.self),
                soakMicroseconds: try row.decode(11, as: Int64?.self) ?? 0,
                rollout: try Percentage(row: row, column: 12),
                startsAt: try row.decode(13, as: PostgresTimestamp?.self).map(Timestamp.init),
                endsAt: try row.decode(14, as: PostgresTimestamp?.self).map(Timestamp.init),
                title: try row.decode(15, as: String.self),
                text: try row.decode(16, as: String.self),
                link: try row.decode(17, as: String?.self),
                lockout: try row.decode(18, as: Bool.self),
                lockoutWithoutUpdate: try row.decode(19, as: Bool.self),
                final: try row.decode(20, as: Bool.self),
                texts: texts[key] ?? [],
                steps: steps[key] ?? []
            )
        }
    }
}
