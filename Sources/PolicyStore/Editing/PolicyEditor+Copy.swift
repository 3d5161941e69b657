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
    package func copyRule(_ key: String, to new: String, bundle: String?, enabled: Bool) throws -> Bool {
        let own: [PartialKeyPath<Rule>] = [\.key, \.bundle, \.enabled]
        let ownNames = own.map { Rule.column($0).name }
        let columns = Rule.columns.map(\.name).filter { !ownNames.contains($0) }.joined(separator: ", ")
        let added = try adding(new, to: .rules) {
            try session.query(
                """
                INSERT INTO public.rules (key, bundle, enabled, \(columns))
                SELECT $2, coalesce($3, bundle), $4, \(columns) FROM public.rules WHERE key = $1
                """,
                [key, new, bundle, enabled]
            ).affectedRows
        }
        for table in [PolicyTable.ruleTexts, .rolloutSteps] {
            let names = table.columns.dropFirst().map(\.name).joined(separator: ", ")
            _ = try session.query(
                "INSERT INTO public.\(table.rawValue) (rule, \(names)) SELECT $2, \(names) FROM public.\(table.rawValue) WHERE rule = $1",
                [key, new]
            )
        }
        return added > 0
    }
}
