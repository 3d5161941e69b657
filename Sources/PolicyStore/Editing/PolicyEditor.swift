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
}
