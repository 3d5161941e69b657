import Postgres
package import UpdatePolicy

extension PolicyEditor {
    /// How long an edit waits for rows that another transaction has edited and not committed.
    private static let lockTimeout = "10s"
    /// How many refused rows are looked for.
    private static let refusalLimit = 20

    /// Makes the edits of a difference, if the policy is what the difference was made from.
    ///
    /// The revision is compared before and after: a transaction that changes the policy holds the row of the revision
    /// from the moment its constraints are judged until its end, so a revision that is higher by exactly one proves that
    /// nothing else was changed in between, and nothing can be before the commit.
    ///
    /// - Parameters:
    ///   - difference: What to do.
    ///   - version: The state of the policy that the difference starts from.
    /// - Throws: ``PolicyConflict`` if the policy is in another state; ``PolicyRefusals`` if the database refuses rows;
    ///   `PostgresError` for anything else, such as a lock that somebody holds for too long.
    package func make(_ difference: PolicyDifference, from version: PolicyVersion) throws {
        try requireVersion(version)
        let batches = difference.batches
        guard !batches.isEmpty else { return }
        _ = try session.query("SELECT set_config('lock_timeout', $1, true)", [Self.lockTimeout])
        // Before the savepoint: refused rows are looked for one by one, in another order.
        for lock in difference.locks { try session.query(lock.sql, [lock.document]) }
        try session.execute("SAVEPOINT before_edits")
        do {
            for batch in batches { try session.query(batch.sql, [batch.document]) }
            try judge()
        } catch {
            guard error.sqlState?.isIntegrityViolation == true || error.sqlState?.isDataException == true else {
                throw error
            }
            try session.execute("ROLLBACK TO before_edits")
            try requireVersion(version)
            throw try refusals(batches, deferred: error)
        }
        guard try revisionOfOthers() == version.revision else {
            try session.execute("ROLLBACK TO before_edits")
            throw try conflict(version.revision, found: try PolicyReader.version(session).revision)
        }
    }

    /// The revision without this transaction.
    private func revisionOfOthers() throws -> Int64 {
        try session.query(
            """
            SELECT revision - CASE WHEN xid = pg_current_xact_id() AND at = now() THEN 1 ELSE 0 END
            FROM public.policy_revision
            """
        ).value(as: Int64.self)
    }

    private func requireVersion(_ version: PolicyVersion) throws {
        let found = try PolicyReader.version(session)
        guard found == version else { throw try conflict(version.revision, found: found.revision) }
    }

    private func conflict(_ expected: Int64, found: Int64) throws -> PolicyConflict {
        .otherRevision(found, expected: expected, change: try PolicyHistory(session).change(found))
    }

    /// Which rows are refused, found by writing them one by one; if none is by itself, what `deferred` is about.
    private func refusals(_ batches: [PolicyBatch], deferred: PostgresError) throws -> PolicyRefusals {
        var refusals: [PolicyRefusal] = []
        var missingRules: Set<String> = []
        for batch in batches {
            for item in batch.items where refusals.count < Self.refusalLimit {
                // Refusals of what belongs to a refused rule add nothing.
                if let rule = item.row.rule, missingRules.contains(rule) { continue }
                try session.execute("SAVEPOINT before_row")
                do {
                    try session.query(batch.sql, [PolicyBatch.document([item])])
                    try session.execute("RELEASE before_row")
                } catch {
                    guard error.sqlState?.isIntegrityViolation == true || error.sqlState?.isDataException == true else {
                        throw error
                    }
                    try session.execute("ROLLBACK TO before_row; RELEASE before_row")
                    refusals.append(PolicyRefusal(error: error, table: batch.table, index: item.index))
                    if batch.table == .rules, batch.isInsertion, let key = item.row["key"].text {
                        missingRules.insert(key)
                    }
                }
            }
        }
        if refusals.isEmpty { refusals = [PolicyRefusal(deferred, in: batches)] }
        return PolicyRefusals(refusals: refusals)
    }
}

extension PolicyRow {
    /// The key of the rule that this row belongs to, if it belongs to one.
    fileprivate var rule: String? {
        table == .ruleTexts || table == .rolloutSteps ? self["rule"].text : nil
    }
}

extension PolicyRefusal {
    /// The refusal of a guard, which judges the outcome of all edits and gives the key columns of the row.
    fileprivate init(_ error: PostgresError, in batches: [PolicyBatch]) {
        self.error = error
        table = error.table.flatMap(PolicyTable.init)
        let key = PolicyFault(error)?.row ?? [:]
        let items = batches.filter { [table] in $0.table == table }.flatMap(\.items).filter { $0.index != nil }
        index = key.isEmpty ? nil : items.first { $0.row.has(key) }?.index
    }
}

extension PolicyRow {
    /// Whether these columns have these texts; nil is NULL.
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
