package import Postgres
package import UpdatePolicy

package struct PolicyHistory {
    private let session: PostgresSession
    private let rowsPerChange: String

    package init(_ session: PostgresSession, rowsPerChange: Int? = nil) throws {
        self.session = session
        self.rowsPerChange = rowsPerChange.map { "\($0)" } ?? "ALL"
        // To compile a query of the history takes longer than to run it.
        try session.execute("SET LOCAL TimeZone = 'UTC'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL jit = off")
    }

    package func change(_ id: Int64) throws -> PolicyChange? { try changes("change.id = $1", [id]).first }

    package func changes(_ filter: HistoryFilter) throws -> [PolicyChange] {
        try changes("change.id IN (\(HistoryFilter.query))", filter.parameters)
    }

    /// The newest entry that was not undone, and is no undo: so asking again after an undo gives the one before.
    package func newestStanding() throws -> PolicyChange? {
        var undone: Set<Int64> = []
        for row in try session.query(
            "SELECT id, undoes FROM public.changes ORDER BY id DESC LIMIT \(Self.mostSearched)")
        {
            let id: Int64 = try row.decode("id")
            if undone.contains(id) { continue }
            guard let undoes: Int64 = try row.decode("undoes", as: Int64?.self) else { return try change(id) }
            undone.insert(undoes)
        }
        return nil
    }

    package static let mostSearched = 1_000

    package func authors() throws -> [String] {
        try session.query(
            "SELECT DISTINCT unnest(ARRAY[role::text, os_user]) AS author FROM public.changes ORDER BY author"
        ).values(as: String?.self).compactMap(\.self)
    }

    package func role() throws -> String { try session.query("SELECT session_user::text").value() }

    /// The revision of the policy at a time: that of the last entry until then, 0 if there is none.
    package func revision(at time: Timestamp) throws -> Int64 {
        try session.query(
            "SELECT coalesce(max(id), 0)::int8 FROM public.changes WHERE at <= $1::timestamptz",
            [time]
        ).value()
    }

    /// The version of the policy that an entry made; its token is empty where there is no such entry, as before the first.
    package func version(of change: Int64) throws -> PolicyVersion {
        let token = try session.query("SELECT token::text FROM public.changes WHERE id = $1", [change])
            .values(as: String.self).first
        return PolicyVersion(revision: change, token: token ?? "")
    }

    /// Who wrote a release: whether a tool added it, and which columns others have edited since.
    package func origin(ofRelease id: Int64, tool: String) throws -> (isOfTool: Bool, editedByOthers: Set<String>) {
        let origin = try session.query(
            """
            SELECT coalesce(bool_or(r.before IS NULL AND c.tool = $2), false),
                coalesce(array_agg(DISTINCT edited.name) FILTER (
                    WHERE r.before IS NOT NULL AND c.tool IS DISTINCT FROM $2
                        AND r.before -> edited.name IS DISTINCT FROM r.after -> edited.name), '{}')
            FROM public.change_rows AS r JOIN public.changes AS c ON c.id = r.change
                LEFT JOIN LATERAL jsonb_object_keys(r.after) AS edited (name) ON true
            WHERE r.table_name = 'releases' AND r.key = jsonb_build_object('id', $1::bigint)
            """,
            [id, tool]
        )[0]
        return (try origin.decode(0), Set(try origin.decode(1, as: [String].self)))
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
        ).value()
    }

    /// Undoes an entry of the history, as a new entry; throws the reason if later changes stand in the way.
    package func undo(_ id: Int64) throws { try session.query("SELECT undo_change($1)", [id]) }

    private func changes(_ condition: String, _ parameters: [(any PostgresEncodable)?]) throws -> [PolicyChange] {
        try session.query(
            """
            SELECT change.id, change.at, change.role::text, change.os_user, change.tool, change.why, change.undoes,
                rows.list AS rows, counts.list AS counts
            FROM public.changes AS change
                CROSS JOIN LATERAL (
                    SELECT coalesce(json_agg(json_build_object(
                        'table', table_name, 'key', \(Self.keyText), 'kind', \(Self.kind), 'columns', columns.list
                    ) ORDER BY ordinal), '[]') AS list
                    FROM (
                        SELECT * FROM public.change_rows AS of_change WHERE of_change.change = change.id
                        ORDER BY of_change.ordinal LIMIT \(rowsPerChange)
                    ) AS row
                        CROSS JOIN LATERAL (
                            SELECT coalesce(json_agg(json_build_object(
                                'name', member.key, 'before', before ->> member.key, 'after', after ->> member.key
                            ) ORDER BY attribute.attnum, member.place), '[]') AS list
                            FROM jsonb_object_keys(coalesce(after, before)) WITH ORDINALITY AS member (key, place)
                                LEFT JOIN pg_attribute AS attribute
                                    ON attribute.attrelid = to_regclass('public.' || table_name)
                                    AND attribute.attname = member.key
                            WHERE before -> member.key IS DISTINCT FROM after -> member.key
                        ) AS columns
                ) AS rows
                CROSS JOIN LATERAL (
                    SELECT coalesce(json_agg(counted), '[]') AS list
                    FROM (
                        SELECT table_name AS "table", \(Self.kind) AS kind, count(*) AS rows FROM public.change_rows
                        WHERE change_rows.change = change.id GROUP BY 1, 2 ORDER BY min(ordinal)
                    ) AS counted
                ) AS counts
            WHERE \(condition) ORDER BY change.id DESC
            """,
            parameters
        ).rows()
    }

    private static let kind =
        "CASE WHEN before IS NULL THEN 'added' WHEN after IS NULL THEN 'removed' ELSE 'changed' END"

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
