package import Postgres
package import UpdatePolicy

/// Changes rows of the policy within one transaction.
///
/// Judging an edit is the database's work: its constraints apply to every client, and their messages are written
/// for people. This type only sends values.
package struct PolicyEditor {
    /// The transaction, for reads that belong to the edit.
    package let session: PostgresSession
    /// Whether consent to lockouts is taken for given: in an edit that is rolled back, to be asked about.
    let assumesConsent: Bool

    /// Adds a row.
    package func insert<Record>(_ values: [ColumnValue<Record>]) throws {
        let columns = values.map(\.name).joined(separator: ", ")
        let parameters = Self.parameters(values, from: 1).joined(separator: ", ")
        try requireReadable(durations: Self.durations(values))
        let key = values.first { $0.name == Record.columns.first?.name }
        _ = try adding(key?.parameter as? String, to: Record.table) {
            try session.query(
                "INSERT INTO public.\(Record.table.rawValue) (\(columns)) VALUES (\(parameters))",
                values.map(\.parameter)
            )
        }
    }

    /// Adds a row, or gives the row with the same key these values.
    package func upsert<Record>(where key: [ColumnValue<Record>], set values: [ColumnValue<Record>]) throws {
        if try update(where: key, set: values) == 0 {
            try insert(key + values)
        }
    }

    /// Gives columns of the rows that match `key` new values; none where there are none.
    ///
    /// - Returns: How many rows match.
    @discardableResult
    package func update<Record>(where key: [ColumnValue<Record>], set values: [ColumnValue<Record>] = []) throws -> Int
    {
        guard !values.isEmpty else {
            return try session.query(
                "SELECT count(*) FROM public.\(Record.table.rawValue) WHERE \(Self.condition(key, from: 1))",
                key.map(\.parameter)
            ).value(as: Int.self)
        }
        try requireReadable(durations: Self.durations(values))
        let assignments = zip(values, Self.parameters(values, from: 1)).map { "\($0.name) = \($1)" }
        return try session.query(
            """
            UPDATE public.\(Record.table.rawValue) SET \(assignments.joined(separator: ", "))
            WHERE \(Self.condition(key, from: values.count + 1))
            """,
            (values + key).map(\.parameter)
        ).affectedRows
    }

    /// Waits until nobody else edits the rows that match `key`, or all where there is none, so that they stay as they are
    /// until the end of the transaction.
    ///
    /// All that edits several rows locks them by table and key, a rule before its steps: so no two wait for each other.
    package func lock<Record>(where key: [ColumnValue<Record>]) throws {
        try session.query(
            """
            SELECT FROM public.\(Record.table.rawValue) WHERE \(key.isEmpty ? "true" : Self.condition(key, from: 1))
            ORDER BY \(Record.table.lockOrder) FOR NO KEY UPDATE
            """,
            key.map(\.parameter)
        )
    }

    /// Removes the rows that match `key`.
    ///
    /// - Returns: How many rows were removed.
    @discardableResult
    package func delete<Record>(where key: [ColumnValue<Record>]) throws -> Int {
        try session.query(
            "DELETE FROM public.\(Record.table.rawValue) WHERE \(Self.condition(key, from: 1))",
            key.map(\.parameter)
        ).affectedRows
    }

    private static func durations<Record>(_ values: [ColumnValue<Record>]) -> [String] {
        values.filter { $0.type == .duration }.compactMap { $0.parameter as? String }
    }

    private static func parameters<Record>(_ values: [ColumnValue<Record>], from first: Int) -> [String] {
        values.enumerated().map { index, value in "$\(first + index)::\(value.cast)" }
    }

    private static func condition<Record>(_ key: [ColumnValue<Record>], from first: Int) -> String {
        zip(key, parameters(key, from: first))
            .map { value, parameter in
                let wanted =
                    value.type == .language ? "versiongate_internal.current_language(\(parameter))" : parameter
                return value.type == .bundle || value.type == .language
                    ? "lower(\(value.name) COLLATE \"C\") = lower(\(wanted) COLLATE \"C\")"
                    : "\(value.name) = \(parameter)"
            }
            .joined(separator: " AND ")
    }
}

extension PolicyTable {
    /// The columns of the primary key, by which rows are locked in order.
    var lockOrder: String { idColumn ?? identity.map(\.name).joined(separator: ", ") }
}

extension PolicyEditor {
    /// Removes the planned steps of a rule and keeps the percentage that is in force now.
    package func keepRolloutInForce(rule key: String) throws {
        try lock(where: [.init(\Rule.key, key)])
        let rollout = try session.query("SELECT rollout_at($1, now())::text", [key]).value(as: String.self)
        try delete(where: [ColumnValue<RolloutStep>.owner(key)])
        try update(where: [.init(\Rule.key, key)], set: [.init(\.rollout, written: rollout), .init(\.heldAt, nil)])
    }

    /// Replaces the planned steps of a rule, which are not held any more. Until the first of them, a rule that is enabled keeps the percentage that is in
    /// force now, by a step of its own.
    package func ramp(rule key: String, _ steps: [(time: Timestamp, percent: String)], now: Timestamp) throws {
        try lock(where: [.init(\Rule.key, key)])
        let inForce = try session.query(
            "SELECT rollout_at(key, now())::text FROM public.rules WHERE key = $1 AND enabled",
            [key]
        ).first?.decode(0, as: String.self)
        try delete(where: [ColumnValue<RolloutStep>.owner(key)])
        try update(where: [.init(\Rule.key, key)], set: [.init(\.heldAt, nil)])
        var steps = steps
        if let inForce, inForce != "0", !steps.contains(where: { $0.time <= now }) {
            steps.append((now, inForce))
        }
        for step in steps {
            try insert([.owner(key), .init(\RolloutStep.at, step.time), .init(\.rollout, written: step.percent)])
        }
    }
}

extension PolicyEditor {
    /// The keys of the lockouts that this transaction has consent for.
    var consent: [String] {
        get throws {
            try session.query("SELECT current_setting('versiongate.consent', true)").value(as: String.self)
                .split(separator: ",").map(String.init)
        }
    }

    /// Says that these lockouts are meant.
    func consent(to keys: [String]) throws(PostgresError) {
        try session.query("SELECT set_config('versiongate.consent', $1, true)", [keys.joined(separator: ",")])
    }

    /// Has the database record and judge what was edited, as it would at the commit.
    ///
    /// - Returns: The id of the change; nil where nothing is different.
    @discardableResult
    func judge() throws(PostgresError) -> Int64? {
        func judgement() throws(PostgresError) -> Int64? {
            try session.query("SELECT public.rehearse_edits()").value()
        }
        guard assumesConsent else { return try judgement() }
        try session.execute("SAVEPOINT before_judgement")
        do {
            return try judgement()
        } catch {
            guard let fault = PolicyFault(error), fault.kind == .consentMissing, let keys = fault["key"] else {
                throw error
            }
            try session.execute("ROLLBACK TO before_judgement")
            try consent(to: ((try? consent) ?? []) + keys.split(separator: ",").map(String.init))
            return try judgement()
        }
    }
}
