package import Postgres
package import UpdatePolicy

/// One statement that inserts, updates or deletes many rows of a table.
///
/// The rows go as one JSON document, so ten thousand of them are one round trip.
struct PolicyBatch {
    /// A row with its index among the wanted rows.
    struct Item {
        let row: PolicyRow
        let index: Int?
        /// The release that the row belongs to, where that is not there yet.
        var release: PolicyRow?
    }

    let table: PolicyTable
    /// Whether the rows are not there yet.
    var isInsertion = false
    /// The statement, whose only parameter is the document.
    let sql: String
    let items: [Item]

    /// The document for all the rows.
    var document: String { Self.document(items) }

    /// The document for some rows.
    static func document(_ items: [Item]) -> String {
        "[\(items.map(\.json).joined(separator: ",\n"))]"
    }

    /// Adds rows.
    static func insert(_ table: PolicyTable, _ items: [Item]) -> PolicyBatch {
        let columns = table.columns.map(\.name).joined(separator: ", ")
        return PolicyBatch(
            table: table, isInsertion: true,
            sql: "INSERT INTO public.\(table.rawValue) (\(columns)) SELECT \(columns) FROM \(recordset(table))",
            items: items
        )
    }

    /// Adds notes of releases that an earlier batch adds, whose ids nobody knows yet.
    ///
    /// A release is found by all that is said of it: the database refuses two that are alike.
    static func insertNotes(_ items: [Item]) -> PolicyBatch {
        let identity = PolicyTable.releases.identity.map(\.name)
        let others = PolicyTable.releases.columns.map(\.name).filter { !identity.contains($0) }
        let list = { (names: [String], row: String) in names.map { "\(row).\($0)" }.joined(separator: ", ") }
        let columns = ReleaseNote.columns.map(\.name)
        return PolicyBatch(
            table: .releaseNotes,
            isInsertion: true,
            sql: """
                INSERT INTO public.release_notes (release, \(columns.joined(separator: ", ")))
                SELECT present.id, \(list(columns, "added"))
                FROM jsonb_to_recordset($1::text::jsonb) AS item (release jsonb, note jsonb)
                CROSS JOIN LATERAL jsonb_populate_record(NULL::public.release_notes, item.note) AS added
                CROSS JOIN LATERAL jsonb_populate_record(NULL::public.releases, item.release) AS wanted
                JOIN public.releases AS present ON (\(list(identity, "present"))) = (\(list(identity, "wanted")))
                    AND (\(list(others, "present"))) IS NOT DISTINCT FROM (\(list(others, "wanted")))
                """,
            items: items
        )
    }

    /// Gives rows the values of the items.
    static func update(_ table: PolicyTable, _ items: [Item]) -> PolicyBatch {
        update(table, columns: table.columns.filter { $0.type != .key }.map(\.name), items)
    }

    /// Gives some columns of rows the values of the items.
    static func update(_ table: PolicyTable, columns: [String], _ items: [Item]) -> PolicyBatch {
        let assignments = columns.map { "\($0) = wanted.\($0)" }.joined(separator: ", ")
        return PolicyBatch(
            table: table,
            sql: """
                UPDATE public.\(table.rawValue) AS present SET \(assignments)
                FROM \(recordset(table)) AS wanted WHERE \(isSameRow(table))
                """,
            items: items
        )
    }

    /// Removes rows.
    static func delete(_ table: PolicyTable, _ items: [Item]) -> PolicyBatch {
        PolicyBatch(
            table: table,
            sql: """
                DELETE FROM public.\(table.rawValue) AS present
                USING \(recordset(table)) AS wanted WHERE \(isSameRow(table))
                """,
            items: items
        )
    }

    /// Locks rows that are there, in the order in which all that edits several rows locks them.
    ///
    /// - Parameter keysGo: Whether some of them are to be removed, so that nothing may refer to them meanwhile.
    static func lock(_ table: PolicyTable, _ items: [Item], keysGo: Bool) -> PolicyBatch {
        PolicyBatch(
            table: table,
            sql: """
                SELECT FROM public.\(table.rawValue) AS present JOIN \(recordset(table)) AS wanted ON \(isSameRow(table))
                ORDER BY \(table.lockOrder.split(separator: ", ").map { "present.\($0)" }.joined(separator: ", "))
                FOR \(keysGo ? "UPDATE" : "NO KEY UPDATE") OF present
                """,
            items: items
        )
    }

    private static func recordset(_ table: PolicyTable) -> String {
        "jsonb_populate_recordset(NULL::public.\(table.rawValue), $1::text::jsonb)"
    }

    /// The condition that finds the row of an item.
    private static func isSameRow(_ table: PolicyTable) -> String {
        if let number = table.idColumn { return "present.\(number) = wanted.\(number)" }
        return table.identity.map { column in
            let ignoresCase = column.type == .bundle || column.type == .language
            return ignoresCase
                ? "lower(present.\(column.name)) = lower(wanted.\(column.name))"
                : "present.\(column.name) = wanted.\(column.name)"
        }.joined(separator: " AND ")
    }
}

extension PolicyDifference {
    /// The statements that lock the rows to be edited, before the first is.
    var locks: [PolicyBatch] {
        PolicyTable.allCases.compactMap { table in
            let present = edits.filter { $0.table == table && $0.before != nil }
            guard !present.isEmpty else { return nil }
            return .lock(
                table, present.compactMap { edit in edit.before.map { .init(row: $0, index: nil) } },
                keysGo: present.contains { $0.after == nil }
            )
        }
    }

    /// The statements that make the edits, in an order in which every row finds what it refers to.
    var batches: [PolicyBatch] {
        var batches: [PolicyBatch] = []
        for table in PolicyTable.allCases.reversed() where table != .apps {
            batches.append(.delete(table, removed(table)))
        }
        batches += [.apps, .storeLinks, .feedTemplates, .releases].flatMap { insertAndUpdate($0) }
        // Clearing staged sets live_at, but a file says when a release went live.
        batches.append(.update(.releases, columns: ["live_at"], released))
        batches += [.releaseNotes, .rules, .ruleTexts, .rolloutSteps].flatMap { insertAndUpdate($0) }
        // An app goes last: what belonged to it may belong to another now.
        batches.append(.delete(.apps, removed(.apps)))
        return batches.filter { !$0.items.isEmpty }
    }

    private func insertAndUpdate(_ table: PolicyTable) -> [PolicyBatch] {
        var added: [PolicyBatch.Item] = []
        var changed: [PolicyBatch.Item] = []
        for edit in edits where edit.table == table {
            guard let after = edit.after else { continue }
            if edit.before == nil {
                added.append(.init(row: after, index: edit.index))
            } else {
                changed.append(.init(row: after, index: edit.index))
            }
        }
        guard table == .releaseNotes else { return [.update(table, changed), .insert(table, added)] }
        let releases = addedReleases
        added = added.map { item in
            guard case .integer(let id) = item.row["release"] else { return item }
            return .init(row: item.row, index: item.index, release: releases[id])
        }
        return [
            .update(table, changed), .insert(table, added.filter { $0.release == nil }),
            .insertNotes(added.filter { $0.release != nil }),
        ]
    }

    /// The releases to be added, by what their notes have in place of an id.
    private var addedReleases: [Int64: PolicyRow] {
        edits.reduce(into: [:]) { releases, edit in
            guard edit.table == .releases, edit.before == nil, let index = edit.index else { return }
            releases[~Int64(index)] = edit.after
        }
    }

    private func removed(_ table: PolicyTable) -> [PolicyBatch.Item] {
        edits.filter { $0.table == table && $0.after == nil }
            .compactMap { edit in edit.before.map { .init(row: $0, index: nil) } }
    }

    private var released: [PolicyBatch.Item] {
        edits.compactMap { edit in
            guard edit.table == .releases, let before = edit.before, let after = edit.after,
                before["staged"] == .boolean(true), after["staged"] == .boolean(false)
            else { return nil }
            return .init(row: after, index: edit.index)
        }
    }
}

extension PolicyBatch.Item {
    /// The row, with the release that it belongs to where that needs to be found.
    fileprivate var json: String {
        release.map { #"{"release":\#($0.json),"note":\#(row.json)}"# } ?? row.json
    }
}

extension PolicyRow {
    /// The row as a JSON object that `jsonb_populate_recordset` reads.
    var json: String {
        var members = zip(table.columns, values).map { "\"\($0.name)\":\($1.json)" }
        if let id, let column = table.idColumn { members.append("\"\(column)\":\(id)") }
        return "{\(members.joined(separator: ","))}"
    }
}

extension PolicyValue {
    /// The value as JSON that `jsonb_populate_recordset` turns into the column's type.
    var json: String {
        switch self {
        case .null: "null"
        case .text(let text): JSONString.literal(text.string)
        case .texts(let texts): Self.list(texts)
        case .boolean(let flag): flag ? "true" : "false"
        case .integer(let number): String(number)
        case .percentage(let percentage): percentage.description
        case .time(let time): JSONString.literal(time.description)
        case .duration(let duration): JSONString.literal(duration.description)
        case .attributes(let attributes):
            "{"
                + attributes.sorted { $0.key < $1.key }
                .map { "\(JSONString.literal($0.key.string)):\(Self.list($0.value))" }
                .joined(separator: ",") + "}"
        }
    }

    private static func list(_ texts: [UTF8Text]) -> String {
        "[\(texts.map { JSONString.literal($0.string) }.joined(separator: ","))]"
    }
}

/// A wanted row that the database refuses.
package struct PolicyRefusal: Sendable {
    /// The error of the database.
    package let error: PostgresError
    /// The table of the row, if it is known.
    package let table: PolicyTable?
    /// The index of the row among the wanted rows of its table; nil if it is unknown or the row is to be removed.
    package let index: Int?

    /// The column that was refused.
    package var column: String? { error.column }
}

/// The wanted rows that the database refuses: never none.
package struct PolicyRefusals: Error, Sendable {
    /// Each row, in the order in which rows are written.
    package let refusals: [PolicyRefusal]
}
