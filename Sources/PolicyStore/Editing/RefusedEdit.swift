import Postgres
package import UpdatePolicy

/// An edit that PostgreSQL itself refuses, where only prose in the language of the server would say of which value.
package enum RefusedEdit: Error, Sendable {
    /// There is a row with this key already.
    case exists(PolicyTable, String)
    /// This text is not a length of time.
    case unreadableDuration(String)
}

extension PolicyEditor {
    /// Runs an insertion, and says which app or rule there is already.
    func adding<Result>(_ key: String?, to table: PolicyTable, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as PostgresError
            where error.sqlState == .uniqueViolation && error.table == table.rawValue
            && (table == .apps || table == .rules)
        {
            guard let key else { throw error }
            throw RefusedEdit.exists(table, key)
        }
    }

    /// Reads each length of time by itself: an error of the whole statement would not say which it is about.
    func requireReadable(durations: [String]) throws {
        for text in durations {
            do {
                try session.query("SELECT $1::text::interval", [text])
            } catch {
                guard error.sqlState?.isDataException == true else { throw error }
                throw RefusedEdit.unreadableDuration(text)
            }
        }
    }
}
