import PolicyStore
import UpdatePolicy

extension PolicyEditor {
    /// Gives columns of a rule new values.
    ///
    /// - Throws: `CommandError` if there is none of this key.
    func edit(rule key: String, set values: [ColumnValue<Rule>] = []) throws {
        if try brake(rule: key, values) { return }
        guard try update(where: [.init(\.key, key)], set: values) > 0 else {
            throw try CommandError.noSuchRule(key, session)
        }
    }

    /// Gives columns of an app new values.
    ///
    /// - Throws: `CommandError` if there is none of this bundle.
    func edit(app bundle: String, set values: [ColumnValue<App>] = []) throws {
        if try brake(app: bundle, values) { return }
        guard try update(where: [.init(\.bundle, bundle)], set: values) > 0 else {
            throw try CommandError.noSuchApp(bundle, session)
        }
    }
}
