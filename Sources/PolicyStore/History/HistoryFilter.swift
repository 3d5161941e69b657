import Postgres
package import UpdatePolicy

/// Selects entries of the history.
package struct HistoryFilter: Sendable {
    /// Only entries that touched this rule, its texts or its steps; nil for all.
    package var rule: String?
    /// Only the entry with this id, or entries that touched the rule with this key, or anything of the app with this bundle;
    /// nil for all.
    package var subject: String?
    /// Only entries from this time on; nil for all.
    package var since: Timestamp?
    /// Only entries up to this time; nil for all.
    package var until: Timestamp?
    /// Only entries of this database role or user of the operating system; nil for all.
    package var author: String?
    /// Only entries that have this in their reason or in a row before or after, case aside; nil for all.
    package var search: String?
    /// Only entries before this one; nil for all.
    package var before: Int64?
    /// Only entries after this one; nil for all.
    package var after: Int64?
    /// The most entries.
    package var limit: Int

    /// Creates a filter.
    package init(
        rule: String? = nil,
        subject: String? = nil,
        since: Timestamp? = nil,
        until: Timestamp? = nil,
        author: String? = nil,
        search: String? = nil,
        before: Int64? = nil,
        after: Int64? = nil,
        limit: Int
    ) {
        self.rule = rule
        self.subject = subject
        self.since = since
        self.until = until
        self.author = author
        self.search = search
        self.before = before
        self.after = after
        self.limit = limit
    }

    /// The ids of the entries, with ``parameters``.
    static let query = """
        SELECT c.id FROM public.changes AS c
        WHERE ($1::text IS NULL OR \(touches("r.table_name = 'rules' AND coalesce(r.after, r.before) ->> 'key' = $1 OR \(isPartOfRule("$1"))")))
            AND ($2::timestamptz IS NULL OR c.at >= $2)
            AND ($3::text IS NULL OR c.role = $3 OR c.os_user = $3)
            AND ($5::bigint IS NULL OR c.id < $5)
            AND ($9::bigint IS NULL OR c.id > $9)
            AND ($6::text IS NULL OR c.id::text = $6 OR \(touches(isAbout)))
            AND ($7::timestamptz IS NULL OR c.at <= $7)
            AND ($8::text IS NULL OR strpos(lower(c.why), lower($8)) > 0
                OR \(touches("strpos(lower(concat_ws(' ', r.before, r.after)), lower($8)) > 0")))
        ORDER BY c.id DESC LIMIT $4
        """

    /// Whether a row of the entry meets a condition.
    private static func touches(_ condition: String) -> String {
        "EXISTS (SELECT FROM public.change_rows AS r WHERE r.change = c.id AND (\(condition)))"
    }

    private static func isPartOfRule(_ key: String) -> String {
        "r.table_name IN ('rule_texts', 'rollout_steps') AND coalesce(r.after, r.before) ->> 'rule' = \(key)"
    }

    /// Whether a row is the rule, or of the app, that the sixth parameter names.
    private static let isAbout = """
        r.table_name = 'rules' AND coalesce(r.after, r.before) ->> 'key' = $6 OR \(isPartOfRule("$6"))
        OR lower($6) IN (lower(r.before ->> 'bundle'), lower(r.after ->> 'bundle'))
        OR r.table_name IN ('rule_texts', 'rollout_steps', 'release_notes') AND EXISTS (
            SELECT FROM public.change_rows AS o
            WHERE lower(coalesce(o.after, o.before) ->> 'bundle') = lower($6) AND (
                o.table_name = 'rules' AND coalesce(o.after, o.before) ->> 'key' = coalesce(r.after, r.before) ->> 'rule'
                OR o.table_name = 'releases'
                    AND coalesce(o.after, o.before) ->> 'id' = coalesce(r.after, r.before) ->> 'release'))
        """

    var parameters: [(any PostgresEncodable)?] {
        [
            rule, since.map { PostgresTimestamp($0) }, author, Int64(limit), before, subject,
            until.map { PostgresTimestamp($0) }, search, after,
        ]
    }
}
