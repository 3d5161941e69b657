import Foundation
import Postgres
import UpdatePolicy

extension PolicyEditor {
    var consent: [String] {
        get throws {
            let keys: String = try session.query("SELECT current_setting('versiongate.consent', true)").value()
            return keys.split(separator: ",").map(String.init)
        }
    }

    func consent(to keys: [String]) throws(PostgresError) {
        try session.query("SELECT set_config('versiongate.consent', $1, true)", [keys.joined(separator: ",")])
    }

    /// Has the database record and judge what was edited, as it would at the commit. Others who commit edits wait from
    /// here on. Returns the id of the change; nil where nothing is different.
    @discardableResult
    func validate() throws(PostgresError) -> Int64? {
        let sql = "SELECT public.rehearse_edits()"
        guard assumesConsent else { return try session.query(sql).value() }
        try session.execute("SAVEPOINT before_validation")
        do {
            return try session.query(sql).value()
        } catch {
            guard error.constraint == "lockout_needs_consent",
                let keys = PolicyFault(error.dataType)?.row?["key"] ?? nil
            else {
                throw error
            }
            try session.execute("ROLLBACK TO before_validation")
            try consent(to: ((try? consent) ?? []) + keys.split(separator: ",").map(String.init))
            return try session.query(sql).value()
        }
    }

    /// The apps that a change is about, nil within for every app; nil if it does not affect what clients get, or only
    /// takes messages away. Messages, notes and fuses add no lockout, nor does a rule that is not enabled: a column's
    /// role decides.
    func scope(ofChange id: Int64) throws -> [String]?? {
        try session.query(Self.scopeQuery, [id]).first.map { try $0.decode(0, as: [String]?.self) }
    }

    private static func isOther<Record: PolicyRecord>(_: Record.Type) -> String {
        let names = Record.columns.filter { [.message, .note, .fuse].contains($0.role) }.map(\.name)
        let silent = "'{\(names.joined(separator: ","))}'::text[]"
        return "row.before - \(silent) IS DISTINCT FROM row.after - \(silent)"
    }

    private static let scopeQuery = """
        SELECT change.bundles FROM public.changes AS change
        WHERE change.id = $1 AND EXISTS (
            SELECT FROM public.change_rows AS row
            LEFT JOIN public.rules AS ramp ON row.table_name = 'rollout_steps'
                AND ramp.key = coalesce(row.after, row.before) ->> 'rule'
            CROSS JOIN LATERAL (
                SELECT (row.before ->> 'enabled')::boolean, (row.after ->> 'enabled')::boolean,
                    (row.before ->> 'paused')::boolean, (row.after ->> 'paused')::boolean
            ) AS was (enabled, stays, paused, pauses)
            CROSS JOIN LATERAL (
                SELECT EXISTS (
                    SELECT FROM public.rules AS rule
                    WHERE rule.enabled AND rule.lockout AND (
                        rule.bundle IS NULL OR rule.bundle IN (row.before ->> 'bundle', row.after ->> 'bundle')
                        OR row.table_name = 'rules' AND row.before ->> 'bundle' IS NULL)
                )
            ) AS lockout (is_there)
            WHERE row.change = change.id AND CASE row.table_name
                WHEN 'rollout_steps' THEN ramp.enabled
                WHEN 'rules' THEN \(isOther(Rule.self)) AND (
                    was.stays OR was.enabled AND (
                        row.after IS NULL OR row.before ->> 'bundle' IS DISTINCT FROM row.after ->> 'bundle'
                        OR (row.before ->> 'final')::boolean AND lockout.is_there))
                WHEN 'releases' THEN \(isOther(Release.self)) AND lockout.is_there
                WHEN 'apps' THEN row.before IS NOT NULL AND lockout.is_there
                    AND CASE WHEN row.after IS NULL THEN was.paused ELSE NOT was.pauses AND \(isOther(App.self)) END
                END
        )
        """
}

/// What the database says for programs of a refusal or a warning, as `versiongate_internal.refuse` describes it.
package struct PolicyFault: Decodable, Sendable {
    /// The cure on a command line; nil where the hint fits there. Commands stand in backticks, values in braces.
    package let command: String?
    package let file: String?
    package let hint: String?
    /// The columns that tell the row which a guard has refused; nil is NULL.
    package let row: [String: String?]?
    package let words: [String: String?]?

    /// - Parameter json: The data type of an error or a notice; nil if PostgreSQL refused or warned by itself.
    package init?(_ json: String?) {
        guard let json, let fault = try? JSONDecoder().decode(PolicyFault.self, from: Data(json.utf8)) else {
            return nil
        }
        self = fault
    }
}
