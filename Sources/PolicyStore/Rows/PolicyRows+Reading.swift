// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Postgres
import UpdatePolicy

extension PolicyRows {
    /// Reads all rows as the transaction of `session` sees them.
    ///
    /// Their order depends on nothing but what they hold, save for releases that are alike in everything.
    ///
    /// - Throws: ``SchemaError/unknownColumns(_:)`` where a table has a column that would be left out; `PostgresError`.
    public init(_ session: PostgresSession) throws {
        self.init()
        try Self.requireKnownColumns(session)
        for table in PolicyTable.allCases {
            let columns = table.columns
            let expressions = columns.map(Self.expression).joined(separator: ", ")
            let id = table.numberColumns.first.map { "\($0)::int8" } ?? "NULL::int8"
            for row in try session.query(
                "SELECT \(id), \(expressions) FROM public.\(table.rawValue) ORDER BY \(Self.order(table))"
            ) {
                let values = try columns.indices.map { try Self.value(columns[$0].kind, row, $0 + 1) }
                append(PolicyRow(table, id: try row.decode(0, as: Int64?.self), values: values))
            }
        }
    }

    /// Refuses tables with columns that nobody here reads: an export would leave them out, and a file that is applied
    /// would remove what they hold.
    private static func requireKnownColumns(_ session: PostgresSession) throws {
        let known = PolicyTable.allCases.flatMap { table in
            (table.columns.map(\.name) + table.numberColumns).map { "\(table.rawValue).\($0)" }
        }
        let unknown = try session.query(
            """
            SELECT named.name || '.' || a.attname
            FROM unnest($1::text[]) AS named (name)
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = to_regclass('public.' || named.name)
            WHERE a.attnum > 0 AND NOT a.attisdropped AND named.name || '.' || a.attname <> ALL ($2::text[])
            ORDER BY 1
            """,
            [PolicyTable.allCases.map(\.rawValue), known]
        ).map { try $0.decode(0, as: String.self) }
        guard unknown.isEmpty else { throw SchemaError.unknownColumns(unknown) }
    }

    private static func order(_ table: PolicyTable) -> String {
        switch table {
        case .apps: "bundle"
        case .storeLinks: "bundle, platform"
        case .releases:
            """
            bundle, platform, version_key(version), version, version_key(build) NULLS FIRST, build, regions NULLS FIRST,
            live_at NULLS FIRST, withdrawn_at NULLS FIRST, staged, min_os NULLS FIRST, note COLLATE "C" NULLS FIRST, id
            """
        case .rules: "key"
        case .ruleTexts: "rule, language"
        case .rolloutSteps: "rule, at"
        }
    }

    private static func expression(_ column: PolicyColumn) -> String {
        let name = column.name
        return switch column.kind {
        case .text, .version, .texts, .boolean, .time: name
        case .integer: "\(name)::int8"
        case .percentage: "(\(name) * 100)::int4"
        case .duration:
            """
            CASE WHEN \(name) IS NOT NULL THEN ARRAY[
                extract(day FROM \(name))::int8,
                (extract(epoch FROM \(name)) * 1000000)::int8 - extract(day FROM \(name))::int8 * 86400000000
            ] END
            """
        case .attributes:
            // Name, count of the accepted texts, these; and so on for the next name.
            """
            CASE WHEN \(name) IS NOT NULL THEN ARRAY(
                SELECT part.item
                FROM jsonb_each(\(name)) AS member, unnest(
                    ARRAY[member.key, jsonb_array_length(member.value)::text]
                        || ARRAY(SELECT jsonb_array_elements_text(member.value))
                ) WITH ORDINALITY AS part (item, place)
                ORDER BY member.key COLLATE "C", part.place
            ) END
            """
        }
    }

    private static func value(_ kind: PolicyColumn.Kind, _ row: PostgresRow, _ column: Int) throws -> PolicyValue {
        switch kind {
        case .text, .version:
            return try row.decode(column, as: String?.self).map { .text(UTF8Text($0)) } ?? .null
        case .texts:
            return try row.decode(column, as: [String]?.self).map { .texts($0.map { UTF8Text($0) }) } ?? .null
        case .boolean: return .boolean(try row.decode(column, as: Bool.self))
        case .integer: return .integer(Int32(truncatingIfNeeded: try row.decode(column, as: Int64.self)))
        case .percentage: return .percentage(try Percentage(row: row, column: column))
        case .time:
            return try row.decode(column, as: PostgresTimestamp?.self).map { .time(Timestamp($0)) } ?? .null
        case .duration:
            guard let parts = try row.decode(column, as: [Int64]?.self) else { return .null }
            return .duration(SoakTime(days: Int32(truncatingIfNeeded: parts[0]), microseconds: parts[1]))
        case .attributes:
            guard let parts = try row.decode(column, as: [String]?.self) else { return .null }
            return .attributes(attributes(parts))
        }
    }

    private static func attributes(_ parts: [String]) -> [UTF8Text: [UTF8Text]] {
        var attributes: [UTF8Text: [UTF8Text]] = [:]
        var place = 0
        while place + 1 < parts.count {
            let end = place + 2 + (Int(parts[place + 1]) ?? 0)
            attributes[UTF8Text(parts[place])] = parts[(place + 2)..<end].map { UTF8Text($0) }
            place = end
        }
        return attributes
    }
}
