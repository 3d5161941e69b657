package import Postgres
package import UpdatePolicy

/// What goes on: who is connected, what was counted, who edited last. What is nil is named in ``hidden``.
package struct DatabaseStatus: Sendable {
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

        package func isHidden(_ session: PostgresSession) throws -> Bool {
            try !DatabaseStatus.mayRead(tables, orAreMissing: false, session)
        }
    }

    /// Whether the role may read which migrations were applied; true also where there are none.
    package static func isSchemaVisible(_ session: PostgresSession) throws -> Bool {
        try mayRead(["versiongate_internal.schema_migrations"], orAreMissing: true, session)
    }

    private static func mayRead(_ tables: [String], orAreMissing: Bool, _ session: PostgresSession) throws -> Bool {
        try session.query(
            """
            SELECT bool_and(CASE WHEN c.oid IS NULL THEN $2
                ELSE has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') END)
            FROM unnest($1::text[]) AS named (name)
            LEFT JOIN pg_namespace AS n ON n.nspname = split_part(named.name, '.', 1)
            LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = split_part(named.name, '.', 2)
            """,
            [tables, orAreMissing]
        ).value()
    }

    package let role: String
    package let time: Timestamp
    package let isStandby: Bool
    package let hidden: [Hidden]
    package let revision: Int64?
    package let servers: [ServerSession]
    package let goneServers: [ServerHeartbeat]
    /// How many checks named an app that was not added since ``countsSince``, at least and at most.
    package let unknown: ClosedRange<Int64>?
    /// Why that could not be read, although the role may read it.
    package let countsFault: String?
    package let openEdits: [OpenEdit]
    /// How much each enabled lockout locks out now; nil where the role may not read the policy or the counts.
    package let shares: [String: LockoutShare]?
    package let fuses: [FuseStatus]?
    package let lastChange: PolicyChange?
    /// The start of the last full hour: from then on checks are counted here.
    package let countsSince: Timestamp

    package var brake: String? { ServerSession.brake(of: servers) }

    /// Whether every server that is seen sends lockouts as plain messages.
    package var isBraked: Bool { !servers.isEmpty && servers.allSatisfy(\.isBraked) }

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
        hidden = try Hidden.allCases.filter { try $0.isHidden(session) }
        let (since, readsCounts) = (countsSince, !hidden.contains(.counts))
        let (readsPolicy, readsHistory) = (!hidden.contains(.policy), !hidden.contains(.history))
        goneServers = readsCounts ? try ServerHeartbeat.gone(servers, session) : []
        let counted = try CountReader(session).attempt { _ in
            (
                readsCounts ? try Self.unknown(since: since, session) : nil,
                readsCounts && readsPolicy ? try LockoutShare.all(session) : nil
            )
        }
        switch counted {
        case .success(let read): (unknown, shares, countsFault) = (read.0, read.1, nil)
        case .failure(let error): (unknown, shares, countsFault) = (nil, nil, error.message)
        }
        openEdits = try OpenEdit.all(session)
        fuses = readsCounts && readsPolicy ? try FuseStatus.all(session) : nil
        revision = readsPolicy ? try PolicyReader.version(session).revision : nil
        let newest = HistoryFilter(limit: 1)
        lastChange = readsHistory ? try PolicyHistory(session, rowsPerChange: 100).changes(newest).first : nil
    }

    private static func unknown(since time: Timestamp, _ session: PostgresSession) throws -> ClosedRange<Int64> {
        let period = "hour >= $1::timestamptz AND \(CountReader.isOver)"
        let counted = try session.query(
            """
            SELECT (SELECT \(CountedTable.bounded("sum(checks)")) FROM public.check_counts
                WHERE \(period) AND lower(bundle COLLATE "C") IS NULL),
                (SELECT \(CountedTable.bounded("sum(checks)")) FROM public.merged_counts WHERE \(period))
            """,
            [time]
        )[0]
        let (withoutApp, merged): (Int64, Int64) = (try counted.decode(0), try counted.decode(1))
        // Merged checks are counted without their app, unless their version is that of a release.
        return max(0, withoutApp - merged)...withoutApp
    }

    /// The checks that named an app that was not added, as `12 to 34 checks`; nil: none.
    package var unknownChecks: String? {
        guard let unknown, unknown.upperBound > 0 else { return nil }
        let least = unknown.lowerBound == unknown.upperBound ? "" : "\(NumberText.count(unknown.lowerBound)) to "
        return "\(least)\(NumberText.checks(unknown.upperBound))"
    }
}
