package import Postgres
import UpdatePolicy

/// The apps whose answers an edit may change, and whether it may change lockouts; found from the rows that it changed.
///
/// Messages, notes and fuses add no lockout; neither does a rule that is not enabled. The role of a column decides.
package struct EditedApps: Sendable {
    /// Whether lockouts are affected, and not just messages.
    package let lockouts: Bool

    /// The apps affected, in lower case; nil: every app.
    package let bundles: [String]?

    /// Finds the apps of a change; nil where it affects nothing that clients get.
    ///
    /// - Parameters:
    ///   - change: The id of an entry of the history.
    ///   - session: A transaction that sees it.
    package init?(of change: Int64, _ session: PostgresSession) throws {
        let rows = try session.query(Self.query, [change])
        guard !rows.isEmpty else { return nil }
        lockouts = try rows.contains { try $0.decode(1, as: Bool.self) }
        let named = try rows.map { try $0.decode(0, as: String?.self) }
        bundles = named.contains(nil) ? nil : Set(named.compactMap(\.self)).sorted()
    }

    /// The SQL for a row of the history without the columns that decide nothing.
    private static func relevantColumns<Record: PolicyRecord>(
        of row: String,
        _: Record.Type,
        besides others: Set<ColumnRole> = []
    ) -> String {
        let roles = others.union([.message, .note, .fuse])
        let names = Record.columns.filter { roles.contains($0.role) }.map(\.name)
        return "(\(row) - '{\(names.joined(separator: ","))}'::text[])"
    }

    private static let query = """
        WITH touched AS (
            SELECT table_name, before, after FROM public.change_rows WHERE change = $1
        ), rule_rows AS (
            SELECT before, after FROM touched
            WHERE table_name = 'rules'
                AND \(relevantColumns(of: "before", Rule.self)) IS DISTINCT FROM \(relevantColumns(of: "after", Rule.self))
            UNION ALL
            SELECT to_jsonb(rule), to_jsonb(rule)
            FROM touched JOIN public.rules AS rule ON rule.key = coalesce(after, before) ->> 'rule'
            WHERE table_name = 'rollout_steps'
        ), app_rows AS (
            SELECT row ->> 'bundle' AS bundle
            FROM touched, LATERAL (VALUES (before), (after)) AS version (row)
            WHERE table_name = 'releases' AND row IS NOT NULL
                AND \(relevantColumns(of: "before", Release.self)) IS DISTINCT FROM \(relevantColumns(of: "after", Release.self))
            UNION ALL
            SELECT row ->> 'bundle'
            FROM touched, LATERAL (VALUES (before), (after)) AS version (row)
            WHERE table_name = 'apps' AND row IS NOT NULL AND before IS NOT NULL
                AND CASE WHEN after IS NULL THEN (before ->> 'paused')::boolean
                    ELSE \(relevantColumns(of: "before", App.self, besides: [.identity]))
                        <> \(relevantColumns(of: "after", App.self, besides: [.identity]))
                        AND NOT (after ->> 'paused')::boolean
                        OR (before ->> 'paused')::boolean AND before ->> 'bundle' <> after ->> 'bundle' END
        )
        SELECT DISTINCT lower(bundle COLLATE "C"), lockouts FROM (
            SELECT after ->> 'bundle', (after ->> 'lockout')::boolean
            FROM rule_rows WHERE (after ->> 'enabled')::boolean
            UNION ALL
            SELECT before ->> 'bundle', (before ->> 'lockout')::boolean
            FROM rule_rows
            WHERE (after IS NULL OR before ->> 'bundle' IS DISTINCT FROM after ->> 'bundle') AND (before ->> 'enabled')::boolean
            UNION ALL
            SELECT coalesce(before ->> 'bundle', rule.bundle), true
            FROM rule_rows JOIN public.rules AS rule
                ON before ->> 'bundle' IS NULL OR rule.bundle IS NULL OR rule.bundle = before ->> 'bundle'
            WHERE (before ->> 'enabled')::boolean AND (before ->> 'final')::boolean AND rule.enabled AND rule.lockout
            UNION ALL
            SELECT app_rows.bundle, true FROM app_rows
            WHERE EXISTS (
                SELECT FROM public.rules AS rule
                WHERE (rule.bundle IS NULL OR rule.bundle = app_rows.bundle) AND rule.enabled AND rule.lockout)
        ) AS affected (bundle, lockouts)
        """
}
