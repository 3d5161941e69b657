import Postgres
package import UpdatePolicy

extension PolicyReports {
    /// The rules as they were written, in the order of their messages, with what is so about each now.
    ///
    /// - Parameters:
    ///   - bundle: Only the rules of this app and those for every app; nil for all.
    ///   - search: Only rules with this in their key, message, note or translations; case does not count; nil for all.
    package func rules(bundle: String?, search: String? = nil) throws -> [(rule: Rule, status: RuleStatus)] {
        // In a database with the locale C the case of other letters than ASCII's would count.
        let wanted = search?.lowercased()
        let rules = try written(bundle).rules.filter { rule in
            wanted.map { wanted in rule.words.contains { $0.lowercased().contains(wanted) } } ?? true
        }
        return try withStatuses(rules.sorted(by: Rule.precedes))
    }

    /// A rule as it was written, with what is so about it now; nil if there is none of this key.
    package func rule(_ key: String) throws -> (rule: Rule, status: RuleStatus)? {
        guard let bundle = try PolicyReader.bundle(ofRule: key, session) else { return nil }
        return try withStatuses(written(bundle).rules.filter { $0.key == key }).first
    }

    private func withStatuses(_ rules: [Rule]) throws -> [(rule: Rule, status: RuleStatus)] {
        let statuses = try RuleStatus.all(session, keys: rules.map(\.key))
        return rules.compactMap { rule in statuses[rule.key].map { (rule, $0) } }
    }
}

extension Rule {
    /// What people read of it.
    fileprivate var words: [String] {
        [key, title, text] + [note].compactMap(\.self) + texts.flatMap { [$0.title, $0.text] }
    }
}
