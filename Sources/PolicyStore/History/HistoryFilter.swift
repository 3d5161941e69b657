// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
public import UpdatePolicy

/// Selects entries of the history.
public struct HistoryFilter: Sendable {
    /// Only entries that touched this rule, its texts or its steps; nil for all.
    public var rule: String?
    /// Only entries from this time on; nil for all.
    public var since: Timestamp?
    /// Only entries of this database role or user of the operating system; nil for all.
    public var author: String?
    /// Only entries before this one; nil for all.
    public var before: Int64?
    /// The most entries.
    public var limit: Int

    /// Creates a filter.
    public init(rule: String? = nil, since: Timestamp? = nil, author: String? = nil, before: Int64? = nil, limit: Int) {
        self.rule = rule
        self.since = since
        self.author = author
        self.before = before
        self.limit = limit
    }

    /// The ids of the entries, with ``parameters``.
    static let query = """
        SELECT c.id FROM public.changes AS c
        WHERE ($1::text IS NULL OR EXISTS (
                SELECT FROM public.change_rows AS r WHERE r.change = c.id AND (
                    r.table_name = 'rules' AND coalesce(r.after, r.before) ->> 'key' = $1
                    OR r.table_name IN ('rule_texts', 'rollout_steps')
                        AND coalesce(r.after, r.before) ->> 'rule' = $1)))
            AND ($2::timestamptz IS NULL OR c.at >= $2)
            AND ($3::text IS NULL OR c.role = $3 OR c.os_user = $3)
            AND ($5::bigint IS NULL OR c.id < $5)
        ORDER BY c.id DESC LIMIT $4
        """

    var parameters: [(any PostgresEncodable)?] {
        [rule, since.map { PostgresTimestamp($0) }, author, Int64(limit), before]
    }
}
