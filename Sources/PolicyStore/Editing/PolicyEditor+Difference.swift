package import Postgres
package import UpdatePolicy

package struct PolicyRefusal: Sendable {
    package let error: PostgresError
    package let table: PolicyTable?
    /// The index of the row among the wanted rows of its table; nil if it is unknown or the row is to be removed.
    package let index: Int?

    package var column: String? { error.column }
}

/// The wanted rows that the database refuses, in the order in which rows are written: never none.
package struct PolicyRefusals: Error, Sendable {
    package let refusals: [PolicyRefusal]
}

extension PolicyEditor {
    private static let mostRefusals = 20

    /// Throws ``PolicyConflict`` if the policy is not in the state that the difference starts from, ``PolicyRefusals`` if
    /// the database refuses rows, `PostgresError` for anything else, such as a lock that somebody holds for too long.
    package func make(_ difference: PolicyDifference, from version: PolicyVersion) throws {
        let found = try PolicyReader.version(session)
        guard found == version else {
            throw PolicyConflict.otherRevision(
                found.revision, expected: version.revision, change: try PolicyHistory(session).change(found.revision)
            )
        }
        guard !difference.edits.isEmpty else { return }
        try session.execute("SET LOCAL lock_timeout = '10s'")
        // Before the savepoint: refused rows are looked for one by one, in another order.
        try write(difference.locks)
        let edits = difference.rowEdits
        var releases: [Int64: Int64] = [:]
        try session.execute("SAVEPOINT before_edits")
        do {
            try write(edits, &releases)
            try write(difference.liveTimes)
            try validate()
        } catch {
            guard error.isAboutRows else { throw error }
            try session.execute("ROLLBACK TO before_edits")
            throw try refusals(edits + difference.liveTimes, difference, deferred: error)
        }
    }

    /// Which rows are refused, found by writing them one by one; if none is by itself, what `deferred` is about.
    private func refusals(
        _ edits: [RowEdit],
        _ difference: PolicyDifference,
        deferred: PostgresError
    ) throws -> PolicyRefusals {
        var refusals: [PolicyRefusal] = []
        var missingRules: Set<String> = []
        var releases: [Int64: Int64] = [:]
        for edit in edits where refusals.count < Self.mostRefusals {
            // Refusals of what belongs to a refused rule or release add nothing.
            if case .string(let rule)? = edit.values["rule"], missingRules.contains(rule) { continue }
            if case .integer(let id)? = edit.values["release"], id < 0, releases[id] == nil { continue }
            try session.execute("SAVEPOINT before_row")
            do {
                try write([edit], &releases)
                try session.execute("RELEASE before_row")
            } catch {
                guard error.isAboutRows else { throw error }
                try session.execute("ROLLBACK TO before_row; RELEASE before_row")
                refusals.append(PolicyRefusal(error: error, table: edit.table, index: edit.index))
                if edit.table == .rules, case .string(let key)? = edit.values["key"] { missingRules.insert(key) }
            }
        }
        return PolicyRefusals(refusals: refusals.isEmpty ? [PolicyRefusal(deferred, in: difference)] : refusals)
    }
}

extension PostgresError {
    fileprivate var isAboutRows: Bool { sqlState?.isIntegrityViolation == true || sqlState?.isDataException == true }
}

extension PolicyDifference {
    fileprivate var locks: [RowEdit] {
        PolicyTable.allCases.flatMap { table in
            let present = edits.filter { $0.table == table && $0.before != nil }
            let kind: RowEdit.Kind = present.contains { $0.after == nil } ? .lockKey : .lock
            return present.map { RowEdit(table: table, kind: kind, key: $0.key) }
        }
    }

    /// What is written, in an order in which every row finds what it refers to.
    fileprivate var rowEdits: [RowEdit] {
        var (removed, written): ([RowEdit], [RowEdit]) = ([], [])
        for table in PolicyTable.allCases {
            let edits = edits.filter { $0.table == table }
            removed = edits.filter { $0.after == nil }.map { .init(table: table, kind: .delete, key: $0.key) } + removed
            written += edits.filter { $0.before != nil }.compactMap { $0.rowEdit }
            written += edits.filter { $0.before == nil }.compactMap { $0.rowEdit }
        }
        // An app goes last: what belonged to it may belong to another now.
        return removed.filter { $0.table != .apps } + written + removed.filter { $0.table == .apps }
    }

    /// When releases went live that were staged: their staging ends now as the database sees it, but a file says when.
    fileprivate var liveTimes: [RowEdit] {
        edits.compactMap { edit in
            guard edit.table == .releases, let before = edit.before, let after = edit.after,
                before["staged"] == .boolean(true), after["staged"] == .boolean(false)
            else { return nil }
            return RowEdit(
                table: edit.table, kind: .update, key: edit.key, values: ["live_at": after["live_at"].jsonValue],
                index: edit.index
            )
        }
    }
}

extension PolicyDifference.Edit {
    fileprivate var key: [String: JSONValue] {
        guard let before else { return [:] }
        if let column = table.idColumn, let id = before.id { return [column: id.jsonValue] }
        return before.members.filter { name, _ in table.identity.contains { $0.name == name } }
    }

    fileprivate var rowEdit: RowEdit? {
        guard let after else { return nil }
        guard let before else { return RowEdit(table: table, kind: .insert, values: after.members, index: index) }
        let values = after.members.filter { column, _ in before[column] != after[column] }
        return RowEdit(table: table, kind: .update, key: key, values: values, index: index)
    }
}

extension PolicyRow {
    fileprivate var members: [String: JSONValue] {
        Dictionary(zip(table.columns.map(\.name), values.map(\.jsonValue))) { $1 }
    }

    var json: JSONValue {
        var members = self.members.map { ($0, Optional($1)) }
        if let column = table.idColumn, let id { members.append((column, id.jsonValue)) }
        return .object(members)
    }

    fileprivate func has(_ key: [String: String?]) -> Bool {
        key.allSatisfy { column, text in
            guard table.columns.contains(where: { $0.name == column }) else { return false }
            let value = self[column]
            guard let text else { return value == .null }
            // The database knows an app by its bundle in any case.
            return column == "bundle" ? value.text.map(ASCII.lowercased) == ASCII.lowercased(text) : value.text == text
        }
    }
}

extension PolicyRefusal {
    /// The refusal of a guard, which judges the outcome of all edits and gives the key columns of the row.
    fileprivate init(_ error: PostgresError, in difference: PolicyDifference) {
        self.error = error
        table = error.table.flatMap(PolicyTable.init)
        let key = PolicyFault(error.dataType)?.row ?? [:]
        let edit = difference.edits.first { [table] in !key.isEmpty && $0.table == table && $0.after?.has(key) == true }
        index = edit?.index
    }
}
