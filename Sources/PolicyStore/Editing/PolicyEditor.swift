package import Postgres
package import UpdatePolicy

/// Writes rows of the policy within one transaction. Judging them is the database's work: its constraints apply to every
/// client, and their messages are written for people.
package struct PolicyEditor {
    package let session: PostgresSession
    /// Whether consent to lockouts is taken for given: in a dry run, after which it is asked for.
    let assumesConsent: Bool

    package func insert<Record>(_ values: [ColumnValue<Record>]) throws {
        try write(.insert, [], values)
    }

    package func upsert<Record>(where key: [ColumnValue<Record>], set values: [ColumnValue<Record>]) throws {
        if try update(where: key, set: values) == 0 { try insert(key + values) }
    }

    @discardableResult
    package func update<Record>(where key: [ColumnValue<Record>], set values: [ColumnValue<Record>] = []) throws -> Int
    {
        try write(.update, key, values)
    }

    /// Waits until nobody else edits the rows that match `key`, or all where there is none, so that they stay as they are.
    ///
    /// All that edits several rows locks them by table and key, a rule before its steps: so no two wait for each other.
    package func lock<Record>(where key: [ColumnValue<Record>]) throws { try write(.lock, key, []) }

    @discardableResult
    package func delete<Record>(where key: [ColumnValue<Record>]) throws -> Int { try write(.delete, key, []) }

    @discardableResult
    private func write<Record>(
        _ kind: RowEdit.Kind,
        _ key: [ColumnValue<Record>],
        _ values: [ColumnValue<Record>]
    ) throws -> Int {
        func members(_ values: [ColumnValue<Record>]) -> [String: JSONValue] {
            Dictionary(values.map { ($0.name, $0.json) }) { $1 }
        }
        return try write([RowEdit(table: Record.table, kind: kind, key: members(key), values: members(values))])
    }

    /// Removes the planned steps of a rule, and gives it a percentage; without one it keeps that which is in force now.
    package func setRollout(rule key: String, to percent: String? = nil) throws {
        try lock(where: [.init(\Rule.key, key)])
        let rollout = try percent ?? session.query("SELECT rollout_at($1, now())::text", [key]).value()
        try delete(where: [ColumnValue<RolloutStep>.owner(key)])
        try update(where: [.init(\Rule.key, key)], set: [.init(\.rollout, written: rollout), .init(\.heldAt, nil)])
    }

    /// Replaces the planned steps of a rule, which are not held any more. Until the first of them, a rule that is enabled
    /// keeps the percentage that is in force now, by a step of its own.
    package func ramp(rule key: String, _ steps: [(time: Timestamp, percent: String)], now: Timestamp) throws {
        try lock(where: [.init(\Rule.key, key)])
        let inForce = try session.query(
            "SELECT rollout_at(key, now())::text FROM public.rules WHERE key = $1 AND enabled",
            [key]
        ).values(as: String.self).first
        try delete(where: [ColumnValue<RolloutStep>.owner(key)])
        try update(where: [.init(\Rule.key, key)], set: [.init(\.heldAt, nil)])
        var steps = steps
        if let inForce, inForce != "0", !steps.contains(where: { $0.time <= now }) { steps.append((now, inForce)) }
        for step in steps {
            try insert([.owner(key), .init(\RolloutStep.at, step.time), .init(\.rollout, written: step.percent)])
        }
    }

    /// Adds a copy of a rule with its texts and steps, for an app or for that of the rule; false: there is no such rule.
    package func copyRule(_ key: String, to new: String, bundle: String?, enabled: Bool) throws -> Bool {
        func copy(_ table: PolicyTable, where column: String, _ changes: JSONValue) throws -> Int {
            try session.query(
                """
                INSERT INTO public.\(table.rawValue) SELECT copy.* FROM public.\(table.rawValue) AS present
                CROSS JOIN LATERAL jsonb_populate_record(present, $2::text::jsonb) AS copy WHERE present.\(column) = $1
                """,
                [key, changes.text]
            ).affectedRows
        }
        var changes: [(String, JSONValue?)] = [("key", .string(new)), ("enabled", .boolean(enabled))]
        changes.append(("bundle", bundle.map { .string($0) }))
        let added = try copy(.rules, where: "key", .object(changes))
        for table in [PolicyTable.ruleTexts, .rolloutSteps] { _ = try copy(table, where: "rule", ["rule": new]) }
        return added > 0
    }

    /// Holds the steps of a rule from now on; an earlier hold stays.
    package func hold(rule key: String) throws {
        let call = try mayOnlyBrake ? "SELECT public.brake_rule($1, 'hold')" : "SELECT public.hold_rule($1)"
        try session.query(call, [key])
    }

    /// Ends the hold of a rule, and moves the steps that are left by as long as it was held.
    package func resume(rule key: String) throws {
        try session.query("SELECT public.resume_rule($1)", [key])
    }

    /// Makes an edit of a rule or an app by the function for the role `versiongate_brake`, if the login may use no other
    /// way, and returns whether it is done: no where the edit does more than a brake may.
    package func brake<Record>(_ key: String, _ values: [ColumnValue<Record>]) throws -> Bool {
        guard values.count == 1, case .boolean(let flag) = values[0].json else { return false }
        let calls = [
            "enabled false": "brake_rule($1, 'disable')", "lockout false": "brake_rule($1, 'lockout')",
            "paused true": "brake_app($1)",
        ]
        guard let call = calls["\(values[0].name) \(flag)"], try mayOnlyBrake else { return false }
        try session.query("SELECT public.\(call)", [key])
        return true
    }

    package var mayOnlyBrake: Bool {
        get throws { try session.query("SELECT versiongate_internal.may_only('brake')").value(as: Bool.self) }
    }
}
