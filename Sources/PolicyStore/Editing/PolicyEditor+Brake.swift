import Postgres
package import UpdatePolicy

extension PolicyEditor {
    /// Holds the steps of a rule from now on; an earlier hold stays.
    package func hold(rule key: String) throws {
        let call = try mayOnlyBrake ? "SELECT public.brake_rule($1, 'hold')" : "SELECT public.hold_rule($1)"
        try session.query(call, [key])
    }

    /// Ends the hold of a rule, and moves the steps that are left by as long as it was held.
    package func resume(rule key: String) throws {
        try session.query("SELECT public.resume_rule($1)", [key])
    }

    /// Makes an edit of a rule by the function for the role `versiongate_brake`, if the login may use no other way.
    ///
    /// - Returns: Whether it is done; no where the login may edit, or the edit does more than a brake may.
    package func brake(rule key: String, _ values: [ColumnValue<Rule>]) throws -> Bool {
        guard values.count == 1, let value = values.first, case .boolean(false) = value.json, try mayOnlyBrake else {
            return false
        }
        let what: String
        switch value.name {
        case Rule.column(\.enabled).name: what = "disable"
        case Rule.column(\.lockout).name: what = "lockout"
        default: return false
        }
        try session.query("SELECT public.brake_rule($1, $2)", [key, what])
        return true
    }

    /// Pauses an app by the function for the role `versiongate_brake`, if the login may use no other way.
    ///
    /// - Returns: Whether it is done; no where the login may edit, or the edit is another.
    package func brake(app bundle: String, _ values: [ColumnValue<App>]) throws -> Bool {
        guard values.count == 1, let value = values.first, value.name == App.column(\.paused).name,
            case .boolean(true) = value.json, try mayOnlyBrake
        else { return false }
        try session.query("SELECT public.brake_app($1)", [bundle])
        return true
    }

    /// Whether the login may take messages and lockouts away, and edit nothing else.
    package var mayOnlyBrake: Bool {
        get throws { try session.query("SELECT versiongate_internal.may_only('brake')").value(as: Bool.self) }
    }
}
