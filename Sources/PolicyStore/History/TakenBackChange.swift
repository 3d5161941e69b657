package import Postgres
package import UpdatePolicy

/// A change that an edit would take back, because it gives columns or rows the values from before that change.
package struct TakenBackChange: Sendable, Equatable {
    package let change: LockoutShare.Change
    package internal(set) var parts: [String]
    /// Whether it took something away to stop harm: a brake, a fuse, a hold or a pause.
    package internal(set) var isBrake: Bool

    /// Those of a difference, newest first. A column that goes back to an earlier value takes back every change of it
    /// since it had that value. What was done until the known revision, whoever made the edit takes back knowingly.
    package static func all(
        in difference: PolicyDifference,
        from version: PolicyVersion,
        since known: Int64,
        _ session: PostgresSession
    ) throws -> [TakenBackChange] {
        try session.execute("SET LOCAL TimeZone = 'UTC'; SET LOCAL IntervalStyle = 'postgres'")
        var changes: [Int64: TakenBackChange] = [:]
        for table in PolicyTable.allCases {
            let edits = difference.edits.filter { $0.table == table }
            guard !edits.isEmpty else { continue }
            let rows = edits.map { edit -> JSONValue in ["before": edit.before?.json, "after": edit.after?.json] }
            let found = try session.query(
                Self.query(table),
                [rows.jsonValue.text, table.columns.map(\.name), known, version.revision]
            )
            for (row, change) in zip(found, try found.rows(as: LockoutShare.Change.self)) {
                let part: String = try row.decode("part")
                changes[change.id, default: TakenBackChange(change: change, parts: [], isBrake: false)].parts
                    .append("\(table.rawValue) \(part)")
                if try row.decode("is_brake") { changes[change.id]?.isBrake = true }
            }
        }
        return changes.values.sorted { $0.change.id > $1.change.id }
    }

    /// Whether the policy was at a revision whose token begins so: a file of another database knows nothing of this one.
    package static func isKnown(_ revision: Int64, token: String, _ session: PostgresSession) throws -> Bool {
        try session.query(
            "SELECT EXISTS (SELECT FROM public.changes WHERE id = $1 AND left(token::text, length($2::text)) = $2::text)",
            [revision, token]
        ).value()
    }

    private static func query(_ table: PolicyTable) -> String {
        let name = table.rawValue
        let record = { (column: String) in
            "CASE WHEN item.\(column) IS NOT NULL THEN to_jsonb(jsonb_populate_record(NULL::public.\(name), item.\(column))) END"
        }
        return """
            WITH wanted AS MATERIALIZED (
                SELECT versiongate_internal.row_key(coalesce(w.before, w.after), t.key) AS key,
                    versiongate_internal.row_columns(coalesce(w.before, w.after), t.key) AS spelled, w.before, w.after
                FROM (
                    SELECT \(record("before")) AS before, \(record("after")) AS after
                    FROM jsonb_to_recordset($1::text::jsonb) AS item (before jsonb, after jsonb)
                ) AS w
                JOIN versiongate_internal.policy_tables() AS t ON t.name = '\(name)'
            ), recorded AS MATERIALIZED (
                SELECT w.key, w.spelled, c.id, c.at, c.role::text, c.tool, r.before, r.after,
                    w.before AS present, w.after AS wanted
                FROM wanted AS w
                JOIN versiongate_internal.recorded_rows AS r ON r.table_name = '\(name)' AND r.key = w.key
                JOIN public.changes AS c ON c.token = r.token
                WHERE c.id > $3 AND c.id <= $4
            ), edits AS (
                SELECT r.id, r.at, r.role, r.tool, r.spelled, name.column_name,
                    max(r.id) FILTER (WHERE r.before -> name.column_name = r.wanted -> name.column_name)
                        OVER (PARTITION BY r.key, name.column_name) AS first_id,
                    CASE name.column_name WHEN 'held_at' THEN r.after ->> 'held_at' IS NOT NULL
                        WHEN 'paused' THEN r.after ->> 'paused' = 'true' ELSE false END AS stops
                FROM recorded AS r CROSS JOIN unnest($2::text[]) AS name (column_name)
                WHERE r.before IS NOT NULL AND r.after IS NOT NULL AND r.present IS NOT NULL AND r.wanted IS NOT NULL
                    AND r.present -> name.column_name IS DISTINCT FROM r.wanted -> name.column_name
                    AND r.before -> name.column_name IS DISTINCT FROM r.after -> name.column_name
                UNION ALL
                SELECT r.id, r.at, r.role, r.tool, r.spelled, NULL, max(r.id) OVER (PARTITION BY r.key), false
                FROM recorded AS r
                WHERE r.present IS NULL AND r.after IS NULL
                    OR r.wanted IS NULL AND r.before IS NULL AND $3 > 0
            )
            SELECT id, at, role, tool,
                (SELECT string_agg(value, ' ') FROM jsonb_each_text(spelled)) || coalesce(': ' || column_name, '') AS part,
                stops OR coalesce(tool IN ('brake', 'fuse'), false) AS is_brake
            FROM edits WHERE id >= first_id ORDER BY id DESC, 5
            """
    }
}
