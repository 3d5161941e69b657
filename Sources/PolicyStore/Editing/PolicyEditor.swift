// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Postgres
public import UpdatePolicy

/// Changes rows of the policy within one transaction.
///
/// Judging an edit is the database's work: its constraints apply to every client, and their messages are written
/// for people. This type only sends values.
public struct PolicyEditor {
    /// The transaction, for reads that belong to the edit.
    public let session: PostgresSession
    /// Whether consent to lockouts is taken for given: in an edit that is rolled back, to be asked about.
    let assumesConsent: Bool

    /// Adds a row.
    public func insert(_ table: PolicyTable, _ values: [ColumnValue]) throws {
        let columns = values.map(\.column).joined(separator: ", ")
        let parameters = Self.parameters(values, from: 1).joined(separator: ", ")
        _ = try session.query(
            "INSERT INTO public.\(table.rawValue) (\(columns)) VALUES (\(parameters))",
            values.map(\.parameter)
        )
    }

    /// Adds a row, or gives the row with the same key these values.
    public func upsert(_ table: PolicyTable, key: [ColumnValue], _ values: [ColumnValue]) throws {
        if try update(table, where: key, set: values) == 0 {
            try insert(table, key + values)
        }
    }

    /// Gives columns of the rows that match `key` new values.
    ///
    /// - Returns: How many rows match.
    @discardableResult
    public func update(_ table: PolicyTable, where key: [ColumnValue], set values: [ColumnValue]) throws -> Int {
        if values.isEmpty {
            return try count(table, where: key)
        }
        let assignments = zip(values, Self.parameters(values, from: 1)).map { "\($0.column) = \($1)" }
        return try session.query(
            """
            UPDATE public.\(table.rawValue) SET \(assignments.joined(separator: ", "))
            WHERE \(Self.condition(key, from: values.count + 1))
            """,
            (values + key).map(\.parameter)
        ).affectedRows
    }

    /// Removes the rows that match `key`.
    ///
    /// - Returns: How many rows were removed.
    @discardableResult
    public func delete(_ table: PolicyTable, where key: [ColumnValue]) throws -> Int {
        try session.query(
            "DELETE FROM public.\(table.rawValue) WHERE \(Self.condition(key, from: 1))",
            key.map(\.parameter)
        ).affectedRows
    }

    private func count(_ table: PolicyTable, where key: [ColumnValue]) throws -> Int {
        try session.query(
            "SELECT count(*) FROM public.\(table.rawValue) WHERE \(Self.condition(key, from: 1))",
            key.map(\.parameter)
        ).value(as: Int.self)
    }

    private static func parameters(_ values: [ColumnValue], from first: Int) -> [String] {
        values.enumerated().map { index, value in "$\(first + index)::\(value.cast)" }
    }

    private static func condition(_ key: [ColumnValue], from first: Int) -> String {
        zip(key, parameters(key, from: first))
            .map { value, parameter in
                value.column == "bundle" || value.column == "language"
                    ? "lower(\(value.column) COLLATE \"C\") = lower(\(parameter) COLLATE \"C\")"
                    : "\(value.column) = \(parameter)"
            }
            .joined(separator: " AND ")
    }
}

extension PolicyEditor {
    /// Removes the planned steps of a rule and keeps the percentage that is in force now.
    public func keepRolloutInForce(rule key: String) throws {
        let rollout = try session.query("SELECT rollout_at($1, now())::text", [key]).value(as: String.self)
        try delete(.rolloutSteps, where: [.text("rule", key)])
        try update(.rules, where: [.text("key", key)], set: [.numeric("rollout", rollout)])
    }

    /// Replaces the planned steps of a rule. Until the first of them, a rule that is enabled keeps the percentage that is in
    /// force now, by a step of its own.
    public func ramp(rule key: String, _ steps: [(time: Timestamp, percent: String)], now: Timestamp) throws {
        let inForce = try session.query(
            "SELECT rollout_at(key, now())::text FROM public.rules WHERE key = $1 AND enabled",
            [key]
        ).first?.decode(0, as: String.self)
        try delete(.rolloutSteps, where: [.text("rule", key)])
        var steps = steps
        if let inForce, inForce != "0", !steps.contains(where: { $0.time <= now }) {
            steps.append((now, inForce))
        }
        for step in steps {
            try insert(
                .rolloutSteps,
                [.text("rule", key), .time("at", step.time.description), .numeric("rollout", step.percent)]
            )
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
    func judge() throws(PostgresError) {
        let judgement = "SELECT public.rehearse_edits()"
        guard assumesConsent else {
            try session.query(judgement)
            return
        }
        try session.execute("SAVEPOINT before_judgement")
        do {
            try session.query(judgement)
        } catch {
            guard error.constraint == "lockout_needs_consent", let keys = error.rowKey["key"] ?? nil else {
                throw error
            }
            try session.execute("ROLLBACK TO before_judgement")
            try consent(to: ((try? consent) ?? []) + keys.split(separator: ",").map(String.init))
            try session.query(judgement)
        }
    }
}
