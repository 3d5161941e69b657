// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import UpdatePolicy

extension PolicyEditor {
    /// Adds a rule that is like another, with its texts and its steps.
    ///
    /// - Parameters:
    ///   - key: The rule to copy.
    ///   - new: The key of the copy.
    ///   - bundle: The app of the copy; nil: that of the rule.
    ///   - enabled: Whether the copy is enabled.
    /// - Returns: Whether there is such a rule.
    public func copyRule(_ key: String, to new: String, bundle: String?, enabled: Bool) throws -> Bool {
        let own = ["key", "bundle", "enabled"]
        let columns = Rule.columns.map(\.definition.name).filter { !own.contains($0) }.joined(separator: ", ")
        let added = try session.query(
            """
            INSERT INTO public.rules (key, bundle, enabled, \(columns))
            SELECT $2, coalesce($3, bundle), $4, \(columns) FROM public.rules WHERE key = $1
            """,
            [key, new, bundle, enabled]
        ).affectedRows
        for (table, columns) in [
            (PolicyTable.ruleTexts, RuleText.columns.map(\.definition.name)),
            (.rolloutSteps, RolloutStep.columns.map(\.definition.name)),
        ] {
            let names = columns.joined(separator: ", ")
            _ = try session.query(
                "INSERT INTO public.\(table.rawValue) (rule, \(names)) SELECT $2, \(names) FROM public.\(table.rawValue) WHERE rule = $1",
                [key, new]
            )
        }
        return added > 0
    }
}
