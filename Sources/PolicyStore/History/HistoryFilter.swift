import Postgres
package import UpdatePolicy

/// Selects entries of the history: all, or those that meet every condition.
package struct HistoryFilter: Sendable {
    /// Only entries that touched this rule, its texts or its steps.
    package var rule: String?
    /// Only the entry with this id, or those that touched the rule with this key, or anything of the app with this bundle.
    package var subject: String?
    package var since: Timestamp?
    package var until: Timestamp?
    /// Only entries of this database role or user of the operating system.
    package var author: String?
    /// Only entries that have this in their reason or in a row before or after, case aside.
    package var search: String?
    package var before: Int64?
    package var after: Int64?
    /// Only entries that touched rules, their texts or steps, or apps; of an app also rules for every app.
    var ofRules = false
    package var limit: Int?

    package init(
        rule: String? = nil,
        subject: String? = nil,
        since: Timestamp? = nil,
        until: Timestamp? = nil,
        author: String? = nil,
        search: String? = nil,
        before: Int64? = nil,
        after: Int64? = nil,
        limit: Int? = nil
    ) {
        (self.rule, self.subject, self.author, self.search) = (rule, subject, author, search)
        (self.since, self.until) = (since, until)
        (self.before, self.after, self.limit) = (before, after, limit)
    }

    static let query = """
        SELECT c.id FROM public.changes AS c
        WHERE ($1::text IS NULL OR \(touches(isOfRule("$1"))))
            AND ($2::timestamptz IS NULL OR c.at >= $2)
            AND ($3::text IS NULL OR c.role = $3 OR c.os_user = $3)
            AND ($5::bigint IS NULL OR c.id < $5)
            AND ($9::bigint IS NULL OR c.id > $9)
            AND ($6::text IS NULL OR c.id::text = $6 OR \(touches(isAbout)))
            AND (NOT $10::boolean OR \(touches("r.table_name IN ('rules', 'rule_texts', 'rollout_steps', 'apps')")))
            AND ($7::timestamptz IS NULL OR c.at <= $7)
            AND ($8::text IS NULL OR strpos(lower(c.why), lower($8)) > 0
                OR \(touches("strpos(lower(concat_ws(' ', r.before, r.after)), lower($8)) > 0")))
        ORDER BY c.id DESC LIMIT $4
        """

    private static func touches(_ condition: String) -> String {
        "EXISTS (SELECT FROM public.change_rows AS r WHERE r.change = c.id AND (\(condition)))"
    }

    private static let row = "coalesce(r.after, r.before)"

    private static func isOfRule(_ key: String) -> String {
        """
        r.table_name = 'rules' AND \(row) ->> 'key' = \(key)
            OR r.table_name IN ('rule_texts', 'rollout_steps') AND \(row) ->> 'rule' = \(key)
        """
    }

    private static let isAbout = """
        \(isOfRule("$6")) OR lower($6) IN (lower(r.before ->> 'bundle'), lower(r.after ->> 'bundle'))
            OR $10 AND r.table_name = 'rules' AND \(row) ->> 'bundle' IS NULL
            OR r.table_name IN ('rule_texts', 'rollout_steps', 'release_notes') AND EXISTS (
                SELECT FROM public.change_rows AS o
                WHERE o.table_name = CASE r.table_name WHEN 'release_notes' THEN 'releases' ELSE 'rules' END
                    AND o.key = CASE r.table_name WHEN 'release_notes' THEN jsonb_build_object('id', \(row) -> 'release')
                        ELSE jsonb_build_object('key', \(row) -> 'rule') END
                    AND (lower(coalesce(o.after, o.before) ->> 'bundle') = lower($6)
                        OR $10 AND coalesce(o.after, o.before) ->> 'bundle' IS NULL))
        """

    var parameters: [(any PostgresEncodable)?] {
        [rule, since, author, limit, before, subject, until, search, after, ofRules]
    }
}
