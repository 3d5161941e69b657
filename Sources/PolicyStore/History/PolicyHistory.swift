package import Postgres
package import UpdatePolicy

/// Reads the history of the policy, and undoes entries.
package struct PolicyHistory {
    let session: PostgresSession
    private let rowsPerChange: Int64?

    /// Creates the history as one transaction sees it.
    ///
    /// - Parameter rowsPerChange: How many rows of an entry are read at most; nil for all.
    package init(_ session: PostgresSession, rowsPerChange: Int? = nil) throws {
        self.session = session
        self.rowsPerChange = rowsPerChange.map(Int64.init)
        try session.execute("SET LOCAL TimeZone = 'UTC'; SET LOCAL IntervalStyle = 'postgres'")
    }

    /// One entry with its rows; nil if there is none with this id.
    package func change(_ id: Int64) throws -> PolicyChange? {
        try changes(condition: "change.id = $1", [id]).first
    }

    /// The entries, newest first.
    package func changes(_ filter: HistoryFilter) throws -> [PolicyChange] {
        try changes(condition: "change.id IN (\(HistoryFilter.query))", filter.parameters)
    }

    /// The newest entry that stands, whoever made it: it was not undone, and is no undo itself. So asking again after an
    /// undo gives the one before.
    package func newestStanding() throws -> PolicyChange? {
        var undone: Set<Int64> = []
        for row in try session.query(
            "SELECT id, undoes FROM public.changes ORDER BY id DESC LIMIT \(Self.mostSearched)"
        ) {
            let id = try row.decode(0, as: Int64.self)
            if undone.contains(id) { continue }
            guard let undoes = try row.decode(1, as: Int64?.self) else { return try change(id) }
            undone.insert(undoes)
        }
        return nil
    }

    /// How many of the newest entries are searched for one to undo.
    package static let mostSearched = 1_000

    /// Who has edited, as the filter for an author takes them, in order.
    package func authors() throws -> [String] {
        try session.query(
            "SELECT DISTINCT unnest(ARRAY[role::text, os_user]) AS author FROM public.changes ORDER BY author"
        ).compactMap { try $0.decode(0, as: String?.self) }
    }

    /// The database role of this session, as the history records it.
    package func role() throws -> String { try session.query("SELECT session_user::text").value(as: String.self) }

    /// The revision of the policy at a time: that of the last entry until then, 0 if there is none.
    package func revision(at time: Timestamp) throws -> Int64 {
        try session.query(
            "SELECT coalesce(max(id), 0)::int8 FROM public.changes WHERE at <= $1::timestamptz",
            [PostgresTimestamp(time)]
        ).value(as: Int64.self)
    }

    /// The version of the policy that an entry made; its token is empty where there is no such entry, as before the first.
    package func version(of change: Int64) throws -> PolicyVersion {
        let token = try session.query("SELECT token::text FROM public.changes WHERE id = $1", [change]).first
        return PolicyVersion(revision: change, token: try token?.decode(0, as: String.self) ?? "")
    }

    /// Who wrote a release: whether a tool added it, and which columns others have edited since.
    package func origin(ofRelease id: Int64, tool: String) throws -> (isOfTool: Bool, editedByOthers: Set<String>) {
        let isOfTool = try session.query(
            """
            SELECT EXISTS (
                SELECT FROM public.change_rows AS r JOIN public.changes AS c ON c.id = r.change
                WHERE r.table_name = 'releases' AND r.key = jsonb_build_object('id', $1::bigint) AND r.before IS NULL
                    AND c.tool = $2)
            """,
            [id, tool]
        ).value(as: Bool.self)
        let columns = try session.query(
            """
            SELECT DISTINCT edited.name
            FROM public.change_rows AS r JOIN public.changes AS c ON c.id = r.change
                CROSS JOIN LATERAL jsonb_object_keys(r.after) AS edited (name)
            WHERE r.table_name = 'releases' AND r.key = jsonb_build_object('id', $1::bigint) AND r.before IS NOT NULL
                AND c.tool IS DISTINCT FROM $2 AND r.before -> edited.name IS DISTINCT FROM r.after -> edited.name
            """,
            [id, tool]
        ).map { try $0.decode(0, as: String.self) }
        return (isOfTool, Set(columns))
    }

    /// The newest change in which somebody else than a tool removed a version of an app; nil if nobody did.
    package func removal(ofRelease version: String, of bundle: String, on platform: String, notBy tool: String) throws
        -> Int64?
    {
        try session.query(
            """
            SELECT max(c.id) FROM public.change_rows AS r JOIN public.changes AS c ON c.id = r.change
            WHERE r.table_name = 'releases' AND r.after IS NULL AND c.tool IS DISTINCT FROM $4
                AND lower(r.before ->> 'bundle') = lower($2) AND r.before ->> 'platform' = $3
                AND version_compare(r.before ->> 'version', $1) = 0
            """,
            [version, bundle, platform, tool]
        ).value(as: Int64?.self)
    }

    /// Undoes an entry of the history, as a new entry.
    ///
    /// - Throws: `PostgresError` with the reason if later changes stand in the way.
    package func undo(_ id: Int64) throws {
        _ = try session.query("SELECT undo_change($1)", [id])
    }

    private func changes(condition: String, _ parameters: [(any PostgresEncodable)?]) throws -> [PolicyChange] {
        var changes: [PolicyChange] = []
        for row in try session.query(
            """
            SELECT change.id, change.at, change.role::text, change.os_user, change.tool, change.why, change.undoes
            FROM public.changes AS change WHERE \(condition) ORDER BY change.id DESC
            """,
            parameters
        ) {
            let id = try row.decode(0, as: Int64.self)
            changes.append(
                PolicyChange(
                    id: id, at: Timestamp(try row.decode(1, as: PostgresTimestamp.self)),
                    role: try row.decode(2, as: String.self), osUser: try row.decode(3, as: String?.self),
                    tool: try row.decode(4, as: String?.self), why: try row.decode(5, as: String?.self),
                    undoes: try row.decode(6, as: Int64?.self), rows: try rows(of: id), counts: try counts(of: id)
                )
            )
        }
        return changes
    }

    private func rows(of change: Int64) throws -> [PolicyChange.Row] {
        let columns = try columns(of: change)
        return try session.query(
            """
            SELECT ordinal::int8, table_name, before IS NOT NULL, after IS NOT NULL, \(Self.keyText)
            FROM public.change_rows WHERE change = $1 ORDER BY ordinal LIMIT $2
            """,
            [change, rowsPerChange]
        ).map { row in
            PolicyChange.Row(
                table: try row.decode(1, as: String.self), key: try row.decode(4, as: String.self),
                kind: Self.kind(existed: try row.decode(2, as: Bool.self), exists: try row.decode(3, as: Bool.self)),
                columns: columns[try row.decode(0, as: Int64.self)] ?? []
            )
        }
    }

    private func counts(of change: Int64) throws -> [PolicyChange.Count] {
        try session.query(
            """
            SELECT table_name, before IS NOT NULL, after IS NOT NULL, count(*)
            FROM public.change_rows WHERE change = $1 GROUP BY 1, 2, 3 ORDER BY min(ordinal)
            """,
            [change]
        ).map { row in
            PolicyChange.Count(
                table: try row.decode(0, as: String.self),
                kind: Self.kind(existed: try row.decode(1, as: Bool.self), exists: try row.decode(2, as: Bool.self)),
                rows: Int(try row.decode(3, as: Int64.self))
            )
        }
    }

    private static func kind(existed: Bool, exists: Bool) -> PolicyChange.Kind {
        existed ? (exists ? .changed : .removed) : .added
    }

    /// The columns that differ, by the ordinal of the row within the change.
    private func columns(of change: Int64) throws -> [Int64: [PolicyChange.Column]] {
        var columns: [Int64: [PolicyChange.Column]] = [:]
        for row in try session.query(
            """
            SELECT row.ordinal::int8, member.key, row.before ->> member.key, row.after ->> member.key
            FROM public.change_rows AS row
                CROSS JOIN jsonb_object_keys(coalesce(row.after, row.before)) WITH ORDINALITY AS member (key, place)
                LEFT JOIN pg_attribute AS attribute
                    ON attribute.attrelid = to_regclass('public.' || row.table_name) AND attribute.attname = member.key
            WHERE row.ordinal IN (SELECT ordinal FROM public.change_rows WHERE change = $1 ORDER BY ordinal LIMIT $2)
                AND row.change = $1 AND row.before -> member.key IS DISTINCT FROM row.after -> member.key
            ORDER BY row.ordinal, attribute.attnum, member.place
            """,
            [change, rowsPerChange]
        ) {
            columns[try row.decode(0, as: Int64.self), default: []].append(
                PolicyChange.Column(
                    name: try row.decode(1, as: String.self), before: try row.decode(2, as: String?.self),
                    after: try row.decode(3, as: String?.self)
                )
            )
        }
        return columns
    }

    /// The key of a row as people read it.
    private static let keyText: String = {
        let cases = PolicyTable.allCases.map { table in
            let names = table.identity.map { column in
                let value = "coalesce(after, before) ->> '\(column.name)'"
                return column.name == ReleaseNote.owner?.name
                    ? "versiongate_internal.release_name((\(value))::bigint)" : value
            }
            return "WHEN '\(table.rawValue)' THEN concat_ws(' ', \(names.joined(separator: ", ")))"
        }
        return "CASE table_name \(cases.joined(separator: "\n")) ELSE key::text END"
    }()
}
