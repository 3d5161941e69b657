// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Postgres
public import UpdatePolicy

/// What goes on: who is connected, what was counted, what is about to begin or end, who edited last.
///
/// What the role may not read is nil, and named in ``hidden``.
public struct DatabaseStatus: Sendable {
    /// Something that begins or ends by itself.
    public struct Event: Sendable {
        /// The kind of an event.
        public enum Kind: String, Sendable {
            /// A rule begins to apply.
            case ruleStarts = "rule starts"
            /// A rule ceases to apply.
            case ruleEnds = "rule ends"
            /// A planned step of a rollout.
            case rolloutStep = "rollout step"
            /// Users can get a release.
            case releaseLive = "release live"
            /// Users can no longer get a release.
            case releaseWithdrawn = "release withdrawn"
        }

        /// When.
        public let at: Timestamp
        /// What.
        public let kind: Kind
        /// The key of the rule, or the app, version and platform of the release.
        public let name: String
        /// The percentage of a step.
        public let rollout: String?

        /// What happens, for people: `rule a goes to 50 %`.
        public var sentence: String {
            switch kind {
            case .ruleStarts: "rule \(name) starts"
            case .ruleEnds: "rule \(name) ends"
            case .rolloutStep: "rule \(name) goes to \(rollout ?? "?") %"
            case .releaseLive: "release \(name) goes live"
            case .releaseWithdrawn: "release \(name) is withdrawn"
            }
        }
    }

    /// What a role may not read.
    public enum Hidden: String, Sendable, CaseIterable {
        /// Apps, releases and rules.
        case policy
        /// Counts of checks.
        case counts
        /// The history.
        case history

        var tables: [String] {
            switch self {
            case .policy: ["public.policy_revision"] + PolicyTable.allCases.map { "public.\($0.rawValue)" }
            case .counts:
                [
                    "public.check_counts", "public.rule_counts", "public.merged_counts",
                    "versiongate_internal.server_sightings",
                ]
            case .history: ["public.changes", "public.change_rows"]
            }
        }

        /// Whether the role of a session may not read it.
        public func isHidden(_ session: PostgresSession) throws -> Bool {
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

    /// How many rows of the last change are read.
    private static let mostRows = 100

    /// The role that logged in.
    public let role: String
    /// The clock of the database.
    public let time: Timestamp
    /// Whether the database is a standby, which cannot be edited.
    public let isStandby: Bool
    /// What the role may not read.
    public let hidden: [Hidden]
    /// The revision of the policy.
    public let revision: Int64?
    /// The servers that are connected to this database.
    public let servers: [ServerSession]
    /// The servers that were there in the last hour and are gone; none where counts are hidden.
    public let goneServers: [ServerSighting]
    /// What was counted since ``countsSince``.
    public let counts: Counts?
    /// Why that could not be read, although the role may read it.
    public let countsFault: String?
    /// The sessions that have edited the policy and neither committed nor rolled back.
    public let openEdits: [OpenEdit]
    /// What begins and ends in the next 24 hours, in order of time.
    public let events: [Event]?
    /// The bundles of the paused apps.
    public let pausedApps: [String]?
    /// The newest entry of the history; nil also where there is none.
    public let lastChange: PolicyChange?
    /// The start of the last full hour: from then on checks are counted here.
    public let countsSince: Timestamp
    /// Whether the role may read which migrations were applied; true also where there are none.
    public static func isSchemaVisible(_ session: PostgresSession) throws -> Bool {
        try session.query(
            """
            SELECT coalesce(bool_and(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')), true)
            FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = 'versiongate_internal' AND c.relname = 'schema_migrations'
            """
        ).value(as: Bool.self)
    }

    /// Reads the status as the transaction of `session` sees it.
    public init(_ session: PostgresSession) throws {
        try session.execute("SET LOCAL TimeZone = 'UTC'")
        let present = try session.query(
            "SELECT session_user::text, now(), pg_is_in_recovery(), date_trunc('hour', now()) - interval '1 hour'"
        )[0]
        role = try present.decode(0, as: String.self)
        time = Timestamp(try present.decode(1, as: PostgresTimestamp.self))
        isStandby = try present.decode(2, as: Bool.self)
        countsSince = Timestamp(try present.decode(3, as: PostgresTimestamp.self))
        servers = try ServerSession.all(session)
        let hidden = try Hidden.allCases.filter { try $0.isHidden(session) }
        self.hidden = hidden
        goneServers = hidden.contains(.counts) ? [] : try ServerSighting.gone(servers, session)
        let since = countsSince
        switch hidden.contains(.counts)
            ? nil : try CountReader(session).attempt({ try Counts(since: since, $0.session) })
        {
        case nil: (counts, countsFault) = (nil, nil)
        case .success(let read): (counts, countsFault) = (read, nil)
        case .failure(let error): (counts, countsFault) = (nil, error.message)
        }
        openEdits = try OpenEdit.all(session)
        if hidden.contains(.policy) {
            (revision, events, pausedApps) = (nil, nil, nil)
        } else {
            revision = try PolicyReader.version(session).revision
            events = try Self.events(session)
            pausedApps = try session.query("SELECT bundle FROM public.apps WHERE paused ORDER BY bundle").map {
                try $0.decode(0, as: String.self)
            }
        }
        lastChange =
            hidden.contains(.history)
            ? nil : try PolicyHistory(session, rowsPerChange: Self.mostRows).changes(HistoryFilter(limit: 1)).first
    }

    private static func events(_ session: PostgresSession) throws -> [Event] {
        try session.query(
            """
            SELECT at, kind, name, rollout FROM (
                SELECT starts_at, 'rule starts', key, NULL FROM public.rules WHERE enabled
                UNION ALL
                SELECT ends_at, 'rule ends', key, NULL FROM public.rules WHERE enabled
                UNION ALL
                SELECT step.at, 'rollout step', step.rule, trim_scale(step.rollout)::text
                FROM public.rollout_steps AS step JOIN public.rules ON rules.key = step.rule WHERE rules.enabled
                UNION ALL
                SELECT live_at, 'release live', concat_ws(' ', bundle, version, platform), NULL
                FROM public.releases WHERE NOT staged AND (withdrawn_at IS NULL OR withdrawn_at > live_at)
                UNION ALL
                SELECT withdrawn_at, 'release withdrawn', concat_ws(' ', bundle, version, platform), NULL
                FROM public.releases
            ) AS event (at, kind, name, rollout)
            WHERE at > now() AND at <= now() + interval '24 hours' ORDER BY at, kind, name
            """
        ).compactMap { row in
            guard let kind = Event.Kind(rawValue: try row.decode(1, as: String.self)) else { return nil }
            return Event(
                at: Timestamp(try row.decode(0, as: PostgresTimestamp.self)),
                kind: kind,
                name: try row.decode(2, as: String.self),
                rollout: try row.decode(3, as: String?.self)
            )
        }
    }

    /// What was counted since a time.
    public struct Counts: Sendable {
        private let lockedOut: [String: Int64]
        private let checks: [String?: Int64]
        /// How many checks named an app that was not added, at least and at most.
        public let unknown: ClosedRange<Int64>

        init(since time: Timestamp, _ session: PostgresSession) throws {
            let parameters = [PostgresTimestamp(time)]
            let period = "hour >= $1::timestamptz AND \(CountReader.isOver)"
            var lockedOut: [String: Int64] = [:]
            for row in try session.query(
                "SELECT rule, \(CountedTable.bounded("sum(lockouts)")) FROM public.rule_counts WHERE \(period) GROUP BY rule",
                parameters
            ) {
                lockedOut[try row.decode(0, as: String.self)] = try row.decode(1, as: Int64.self)
            }
            var checks: [String?: Int64] = [:]
            for row in try session.query(
                "SELECT bundle, \(CountedTable.bounded("sum(checks)")) FROM public.check_counts WHERE \(period) GROUP BY bundle",
                parameters
            ) {
                checks[try row.decode(0, as: String?.self)] = try row.decode(1, as: Int64.self)
            }
            let merged = try session.query(
                "SELECT \(CountedTable.bounded("sum(checks)")) FROM public.merged_counts WHERE \(period)",
                parameters
            ).value(as: Int64.self)
            self.lockedOut = lockedOut
            self.checks = checks
            // Merged checks are counted without their app, unless their version is that of a release.
            let withoutApp = checks[nil, default: 0]
            unknown = max(0, withoutApp - merged)...withoutApp
        }

        /// How many checks a rule locked out, and of how many of its app.
        public func ofRule(_ key: String, bundle: String?) -> (lockedOut: Int64, checks: Int64) {
            let lockedOut = lockedOut[key, default: 0]
            let all = bundle.map { checks[$0, default: 0] } ?? checks.values.reduce(0, +)
            return (lockedOut, max(lockedOut, all))
        }
    }
}
