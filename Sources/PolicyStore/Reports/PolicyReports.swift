// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Postgres
import UpdatePolicy

/// Reads the policy for people and scripts: lists, single records, the history.
///
/// JSON is made by PostgreSQL, in a transaction whose time zone is UTC, so that every value is shown as it is kept.
public struct PolicyReports {
    /// The transaction, for reads that belong to the reports.
    public let session: PostgresSession

    /// Creates the reports of one transaction.
    public init(_ session: PostgresSession) throws {
        self.session = session
        try session.execute(
            "SET LOCAL TimeZone = 'UTC'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL DateStyle = 'ISO'"
        )
    }

    /// The columns of a table that people edit, in their order.
    static func columns<Record: PolicyRecord>(of record: Record.Type) -> String {
        Record.columns.map { $0.type == .duration ? "\($0.name)::text" : $0.name }.joined(separator: ", ")
    }

    /// Runs a query and gives its rows as a JSON array of objects, one object a line.
    func json(_ query: String, _ parameters: [(any PostgresEncodable)?] = []) throws -> String {
        let rows = try session.query("SELECT row_to_json(record)::text FROM (\(query)) AS record", parameters)
            .map { try $0.decode(0, as: String.self).visibleJSON }
        return rows.isEmpty ? "[]" : "[\n" + rows.joined(separator: ",\n") + "\n]"
    }

    /// Runs a query and gives its first row, as a JSON object and field by field.
    func record(_ query: String, _ parameters: [(any PostgresEncodable)?]) throws -> Record? {
        guard
            let document = try session.query(
                "SELECT row_to_json(record)::text FROM (\(query)) AS record",
                parameters
            ).first
        else { return nil }
        let fields = try session.query(
            """
            SELECT field.key, CASE json_typeof(field.value)
                WHEN 'null' THEN NULL
                WHEN 'array' THEN (
                    SELECT string_agg(CASE json_typeof(element) WHEN 'object' THEN (
                        SELECT string_agg(member.value, '  ' ORDER BY member.ordinality)
                        FROM json_each_text(element) WITH ORDINALITY AS member
                    ) ELSE element #>> '{}' END, CASE json_typeof(element) WHEN 'object' THEN E'\\n' ELSE ', ' END)
                    FROM json_array_elements(field.value) AS element)
                ELSE field.value #>> '{}' END
            FROM (\(query)) AS record, json_each(row_to_json(record)) WITH ORDINALITY AS field
            ORDER BY field.ordinality
            """,
            parameters
        ).map { row in
            RecordField(name: try row.decode(0, as: String.self), value: try row.decode(1, as: String?.self))
        }
        return Record(json: try document.decode(0, as: String.self).visibleJSON, fields: fields)
    }

    /// One row, as a JSON object and field by field.
    public struct Record: Sendable {
        /// The JSON object.
        public let json: String
        /// The fields in the order of the columns.
        public let fields: [RecordField]
    }
}

/// A field of a record, as people read it.
public struct RecordField: Sendable, Hashable {
    /// The column.
    public let name: String
    /// Its value as text; nil when there is none.
    public let value: String?

    /// Creates a field.
    public init(name: String, value: String?) {
        self.name = name
        self.value = value
    }
}
