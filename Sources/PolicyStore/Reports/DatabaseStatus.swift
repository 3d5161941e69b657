package import Postgres
package import UpdatePolicy

/// What goes on: who is connected, what was counted, who edited last.
///
/// What the role may not read is nil, and named in ``hidden``.
package struct DatabaseStatus: Sendable {
    /// What a role may not read.
    package enum Hidden: String, Sendable, CaseIterable {
        case policy
        case counts
        case history

        var tables: [String] {
            switch self {
            case .policy: ["public.policy_revision"] + PolicyTable.allCases.map { "public.\($0.rawValue)" }
            case .counts:
                [
                    "public.check_counts", "public.rule_counts", "public.merged_counts", "public.lockout_counts",
                    "versiongate_internal.server_sightings",
                ]
            case .history: ["public.changes", "public.change_rows"]
            }
        }

        /// Whether the role of a session may not read it.
        package func isHidden(_ session: PostgresSession) throws -> Bool {
            try !session.query(
                """
                SELECT bool_and(coalesce(
                    has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'), false))
                FROM unnest($1::text[]) AS named (name)
                LEFT JOIN pg_namespace AS n ON n.nspname = split_part(named.name, '.', 1)
                LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = split_part(named.name, '.', 2)
                """,
                [tables]
            ).value(as: Bool.self)
        }
    }

    private static let mostRows = 100

    package let role: String
    package let time: Timestamp
    /// Whether the database is a standby, which cannot be edited.
    package let isStandby: Bool
    package let hidden: [Hidden]
    package let revision: Int64?
    /// The servers that are connected to this database.
    package let servers: [ServerSession]
    /// Which servers send every lockout as a plain message; nil: none.
    package var brake: String? { ServerSession.brake(of: servers) }

    /// Whether every server that is seen does so, so that nobody is locked out.
    package var isBraked: Bool { !servers.isEmpty && servers.allSatisfy(\.isBraked) }

    /// The servers that were there in the last hour and are gone; none where counts are hidden.
    package let goneServers: [ServerSighting]
    /// What was counted since ``countsSince``.
    package let counts: Counts?
    /// Why that could not be read, although the role may read it.
    package let countsFault: String?
    /// The sessions that have edited the policy and neither committed nor rolled back.
    package let openEdits: [OpenEdit]
    /// How much each enabled lockout locks out now; nil where the role may not read the policy or the counts.
    package let shares: [String: LockoutShare]?
    /// The fuses of lockouts; nil where the role may not read the policy or the counts.
    package let fuses: [FuseStatus]?
    /// The newest entry of the history; nil also where there is none.
    package let lastChange: PolicyChange?
    /// The start of the last full hour: from then on checks are counted here.
    package let countsSince: Timestamp
    /// Whether the role may read which migrations were applied; true also where there are none.
    package static func isSchemaVisible(_ session: PostgresSession) throws -> Bool {
        try session.query(
            """
            SELECT coalesce(bool_and(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')), true)
            FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = 'versiongate_internal' AND c.relname = 'schema_migrations'
            """
        ).value(as: Bool.self)
    }

    /// Reads the status as the transaction of `session` sees it.
    package init(_ session: PostgresSession) throws {
        try session.execute("SET LOCAL TimeZone = 'UTC'")
        let present = try session.query(
            """
            SELECT session_user::text AS role, now() AS time, pg_is_in_recovery() AS is_standby,
                date_trunc('hour', now()) - interval '1 hour' AS counts_since
            """
        )[0]
        role = try present.decode("role")
        time = try present.decode("time")
        isStandby = try present.decode("is_standby")
        countsSince = try present.decode("counts_since")
        servers = try ServerSession.all(session)
        let hidden = try Hidden.allCases.filter { try $0.isHidden(session) }
        self.hidden = hidden
        goneServers = hidden.contains(.counts) ? [] : try ServerSighting.gone(servers, session)
        let since = countsSince
        let readsRules = !hidden.contains(.policy)
        switch hidden.contains(.counts)
            ? nil
            : try CountReader(session).attempt({
                (try Counts(since: since, $0.session), readsRules ? try LockoutShare.all($0.session) : nil)
            })
        {
        case nil: (counts, shares, countsFault) = (nil, nil, nil)
        case .success(let read): (counts, shares, countsFault) = (read.0, read.1, nil)
        case .failure(let error): (counts, shares, countsFault) = (nil, nil, error.message)
        }
        openEdits = try OpenEdit.all(session)
        fuses = hidden.contains(.counts) || hidden.contains(.policy) ? nil : try FuseStatus.all(session)
        revision = hidden.contains(.policy) ? nil : try PolicyReader.version(session).revision
        lastChange =
            hidden.contains(.history)
            ? nil : try PolicyHistory(session, rowsPerChange: Self.mostRows).changes(HistoryFilter(limit: 1)).first
    }

    /// What was counted since a time.
    package struct Counts: Sendable {
        /// How many checks named an app that was not added, at least and at most.
        package let unknown: ClosedRange<Int64>

        init(since time: Timestamp, _ session: PostgresSession) throws {
            let period = "hour >= $1::timestamptz AND \(CountReader.isOver)"
            let counted = try session.query(
                """
                SELECT (SELECT \(CountedTable.bounded("sum(checks)")) FROM public.check_counts
                    WHERE \(period) AND lower(bundle COLLATE "C") IS NULL)
                    AS without_app,
                    (SELECT \(CountedTable.bounded("sum(checks)")) FROM public.merged_counts WHERE \(period)) AS merged
                """,
                [time]
            )[0]
            let (withoutApp, merged): (Int64, Int64) = (try counted.decode("without_app"), try counted.decode("merged"))
            // Merged checks are counted without their app, unless their version is that of a release.
            unknown = max(0, withoutApp - merged)...withoutApp
        }

        /// The checks that named an app that was not added, as `12 to 34 checks`; nil: none.
        package var unknownChecks: String? {
            guard unknown.upperBound > 0 else { return nil }
            let least = unknown.lowerBound == unknown.upperBound ? "" : "\(NumberText.count(unknown.lowerBound)) to "
            return "\(least)\(NumberText.checks(unknown.upperBound))"
        }
    }
}
