import Postgres
package import UpdatePolicy

/// What one change did to rules, by one of their rows.
package struct RuleEdit: Sendable, Equatable {
    /// The id of the change.
    package let change: Int64
    /// When it was committed.
    package let at: Timestamp
    /// The table of the row: `rules`, `rule_texts`, `rollout_steps` or `apps`.
    package let table: String
    /// The rule's key; the bundle for `apps`.
    package let name: String
    /// What was done to the row.
    package let kind: PolicyChange.Kind
    /// The columns of the row that differ, in alphabetical order.
    package let columns: [PolicyChange.Column]
    /// How many more rows it touched; at most ``mostRows`` are counted.
    package let otherRows: Int64

    /// The most rows of a change that are looked at.
    package static let mostRows: Int64 = 100
}

extension PolicyHistory {
    /// The newest changes of the rules that an app has, of those for every app, and of the app itself, in order of time.
    package func ruleEdits(ofApp bundle: String, since time: Timestamp, limit: Int) throws -> [RuleEdit] {
        let isOfApp = "(bundle IS NULL OR lower(bundle COLLATE \"C\") = lower($1::text COLLATE \"C\"))"
        return try ruleEdits(
            """
            r.table_name IN ('rules', 'apps') AND (SELECT \(isOfApp) FROM (SELECT \(Self.row) ->> 'bundle') AS named(bundle))
            OR r.table_name IN ('rule_texts', 'rollout_steps')
                AND (SELECT \(isOfApp) FROM (
                    SELECT coalesce(of_rule.after, of_rule.before) ->> 'bundle' FROM public.change_rows AS of_rule
                    WHERE of_rule.table_name = 'rules'
                        AND of_rule.key = jsonb_build_object('key', \(Self.row) ->> 'rule')
                    ORDER BY of_rule.change DESC LIMIT 1) AS rule(bundle))
            """,
            [bundle, PostgresTimestamp(time), Int64(limit)]
        )
    }

    /// The newest changes of a rule, its texts and its steps, in order of time.
    package func ruleEdits(ofRule key: String, since time: Timestamp, limit: Int) throws -> [RuleEdit] {
        try ruleEdits(
            """
            r.table_name = 'rules' AND \(Self.row) ->> 'key' = $1
            OR r.table_name IN ('rule_texts', 'rollout_steps') AND \(Self.row) ->> 'rule' = $1
            """,
            [key, PostgresTimestamp(time), Int64(limit)]
        )
    }

    /// The newest changes of rules, their texts and steps, and of apps, in order of time.
    package func ruleEdits(since time: Timestamp, limit: Int) throws -> [RuleEdit] {
        try ruleEdits(
            "$1::text IS NULL AND r.table_name IN ('rules', 'rule_texts', 'rollout_steps', 'apps')",
            [String?.none, PostgresTimestamp(time), Int64(limit)]
        )
    }

    private static let row = "coalesce(r.after, r.before)"

    private func ruleEdits(_ condition: String, _ parameters: [(any PostgresEncodable)?]) throws -> [RuleEdit] {
        try session.query(
            """
            SELECT change.id, change.at, first.table_name, coalesce(
                    \(Self.name(in: "first.after")), \(Self.name(in: "first.before"))),
                first.before IS NOT NULL, first.after IS NOT NULL, first.rows - 1, columns.names, columns.before,
                columns.after
            FROM public.changes AS change
                CROSS JOIN LATERAL (
                    SELECT touched.*, count(*) OVER () AS rows FROM (
                        SELECT r.ordinal, r.table_name, r.before, r.after FROM public.change_rows AS r
                        WHERE r.change = change.id AND (\(condition)) ORDER BY r.ordinal LIMIT \(RuleEdit.mostRows + 1)
                    ) AS touched
                    -- The share that a first step sets to 0 says less than the step.
                    ORDER BY (touched.before - 'rollout' = touched.after - 'rollout'
                        AND touched.after ->> 'rollout' = '0') IS TRUE, touched.ordinal LIMIT 1
                ) AS first
                CROSS JOIN LATERAL (
                    SELECT array_agg(key ORDER BY key) AS names, array_agg(first.before ->> key ORDER BY key) AS before,
                        array_agg(first.after ->> key ORDER BY key) AS after
                    FROM jsonb_object_keys(coalesce(first.after, first.before)) AS member(key)
                    WHERE first.before -> key IS DISTINCT FROM first.after -> key
                ) AS columns
            WHERE change.at >= $2::timestamptz ORDER BY change.id DESC LIMIT $3
            """,
            parameters
        ).map { row in
            let existed = try row.decode(4, as: Bool.self)
            let exists = try row.decode(5, as: Bool.self)
            let (before, after) = (
                try row.decode(8, as: [String?]?.self) ?? [], try row.decode(9, as: [String?]?.self) ?? []
            )
            return RuleEdit(
                change: try row.decode(0, as: Int64.self),
                at: Timestamp(try row.decode(1, as: PostgresTimestamp.self)),
                table: try row.decode(2, as: String.self),
                name: try row.decode(3, as: String?.self) ?? "",
                kind: existed ? (exists ? .changed : .removed) : .added,
                columns: (try row.decode(7, as: [String]?.self) ?? []).enumerated().map { index, name in
                    PolicyChange.Column(name: name, before: before[index], after: after[index])
                },
                otherRows: try row.decode(6, as: Int64.self)
            )
        }.reversed()
    }

    private static func name(in row: String) -> String {
        "CASE first.table_name WHEN 'rules' THEN \(row) ->> 'key' WHEN 'apps' THEN \(row) ->> 'bundle'"
            + " ELSE \(row) ->> 'rule' END"
    }
}
