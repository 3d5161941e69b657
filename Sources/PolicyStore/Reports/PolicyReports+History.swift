// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension PolicyReports {
    /// The history as this transaction sees it.
    public var history: PolicyHistory {
        get throws { try PolicyHistory(session) }
    }

    /// The history as a JSON array, newest first.
    ///
    /// - Parameters:
    ///   - rule: Only entries that touched this rule, its texts or its steps; nil for all.
    ///   - limit: The most entries.
    public func historyJSON(rule: String?, limit: Int) throws -> String {
        try json(
            """
            SELECT change.id, change.at, change.role::text, change.os_user, change.tool, change.why, change.undoes,
                (SELECT json_agg(json_build_object('table', table_name, 'key', key, 'before', before, 'after', after)
                    ORDER BY ordinal)
                 FROM public.change_rows AS row WHERE row.change = change.id) AS rows
            FROM public.changes AS change
            WHERE $1::text IS NULL OR EXISTS (
                SELECT FROM public.change_rows AS row WHERE row.change = change.id AND (
                    row.table_name = 'rules' AND coalesce(row.after, row.before) ->> 'key' = $1
                    OR row.table_name IN ('rule_texts', 'rollout_steps')
                        AND coalesce(row.after, row.before) ->> 'rule' = $1))
            ORDER BY change.id DESC LIMIT $2
            """,
            [rule, Int64(limit)]
        )
    }
}
