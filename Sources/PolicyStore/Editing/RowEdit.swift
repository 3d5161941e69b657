import Postgres
import UpdatePolicy

struct RowEdit: Sendable {
    enum Kind: String {
        case insert, update, delete
        /// Waits until nobody else edits them, so that they stay as they are until the end of the transaction.
        case lock
        /// And nothing may refer to them meanwhile either.
        case lockKey
    }

    let table: PolicyTable
    let kind: Kind
    /// The columns that find the rows; none: all.
    var key: [String: JSONValue] = [:]
    /// The columns that they get. Others stay as they are, also as somebody else leaves them meanwhile.
    var values: [String: JSONValue] = [:]
    /// The index of the row among those of its table that are wanted.
    var index: Int?
}

extension PolicyEditor {
    /// Writes rows in their order, and returns how many there were. Those that one statement can write go as one JSON
    /// document, so ten thousand of them are one round trip.
    ///
    /// - Parameter releases: The ids of added releases, by the complements of their indices, which stand for them until then.
    @discardableResult
    func write(_ edits: [RowEdit], _ releases: inout [Int64: Int64]) throws(PostgresError) -> Int {
        var count = 0
        var rest = edits[...]
        while let first = rest.first {
            let alike = rest.prefix { $0.isAlike(first) }
            let documents = alike.map { $0.document(releases) }.joined(separator: ",\n")
            let sql = first.sql(Set(alike.flatMap(\.values.keys)).sorted())
            let written = try session.query(sql, ["[\(documents)]"])
            if first.returnsID {
                // One by one, in the order of the document.
                for (edit, row) in zip(alike, written) {
                    if let index = edit.index { releases[~Int64(index)] = try row.decode(0, as: Int64.self) }
                }
            }
            count += written.affectedRows
            rest = rest.dropFirst(alike.count)
        }
        return count
    }

    @discardableResult
    func write(_ edits: [RowEdit]) throws(PostgresError) -> Int {
        var releases: [Int64: Int64] = [:]
        return try write(edits, &releases)
    }
}

extension RowEdit {
    fileprivate func isAlike(_ other: RowEdit) -> Bool {
        table == other.table && kind == other.kind && key.keys == other.key.keys
            && (kind != .insert || values.keys == other.values.keys)
    }

    fileprivate var returnsID: Bool { kind == .insert && table.idColumn != nil }

    fileprivate func document(_ releases: [Int64: Int64]) -> String {
        var values = values
        if case .integer(let release)? = values["release"], let id = releases[release] {
            values["release"] = id.jsonValue
        }
        let (key, given) = (key.map { ($0, Optional($1)) }, values.map { ($0, Optional($1)) })
        return JSONValue.object([("key", .object(key)), ("given", .object(given))]).text
    }

    /// The statement that edits some columns, whose only parameter is the documents.
    fileprivate func sql(_ columns: [String]) -> String {
        let name = "public.\(table.rawValue)"
        let record = { (part: String) in
            """
            jsonb_to_recordset($1::text::jsonb) AS item (key jsonb, given jsonb)
            CROSS JOIN LATERAL jsonb_populate_record(NULL::\(name), item.\(part)) AS \(part)
            """
        }
        let list = columns.joined(separator: ", ")
        let given = columns.map { "given.\($0)" }.joined(separator: ", ")
        let found = "SELECT FROM \(name) AS present JOIN (\(record("key"))) ON \(isFound)"
        switch kind {
        case .insert:
            return """
                INSERT INTO \(name) (\(list)) SELECT \(given) FROM \(record("given"))
                \(table.idColumn.map { "RETURNING \($0)" } ?? "")
                """
        case .update:
            guard !columns.isEmpty else { return found }
            return """
                UPDATE \(name) AS present
                SET (\(list)) = (SELECT \(given) FROM jsonb_populate_record(present, item.given) AS given)
                FROM \(record("key")) WHERE \(isFound)
                """
        case .delete:
            return "DELETE FROM \(name) AS present USING \(record("key")) WHERE \(isFound)"
        case .lock, .lockKey:
            let order = (table.idColumn.map { [$0] } ?? table.identity.map(\.name)).map { "present.\($0)" }
            return """
                \(found) ORDER BY \(order.joined(separator: ", ")) FOR \(kind == .lock ? "NO KEY " : "")UPDATE OF present
                """
        }
    }

    private var isFound: String {
        let conditions = key.keys.sorted().map { column in
            switch column {
            case "bundle": "lower(present.bundle) = lower(key.bundle)"
            case "language": "lower(present.language) = lower(versiongate_internal.current_language(key.language))"
            default: "present.\(column) = key.\(column)"
            }
        }
        return conditions.isEmpty ? "true" : conditions.joined(separator: " AND ")
    }
}
