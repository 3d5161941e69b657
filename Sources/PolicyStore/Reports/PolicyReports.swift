package import Postgres
import UpdatePolicy

/// Reads the policy for people and scripts: lists, single records, the history.
///
/// JSON is made by PostgreSQL, in a transaction whose time zone is UTC, so that every value is shown as it is kept.
package struct PolicyReports {
    /// The transaction, for reads that belong to the reports.
    package let session: PostgresSession

    /// Creates the reports of one transaction.
    package init(_ session: PostgresSession) throws {
        self.session = session
        try session.execute(
            "SET LOCAL TimeZone = 'UTC'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL DateStyle = 'ISO'"
        )
    }

    /// The policy as it was written.
    ///
    /// - Parameter bundle: Of this app alone, with the rules for every app; nil for all.
    func written(_ bundle: String?) throws -> Policy {
        try PolicyReader.policy(session, bundles: bundle.map { [$0] }, detail: .edited)
    }

    /// Runs a query and gives its rows as a JSON array of objects, one object a line.
    func json(_ query: String, _ parameters: [(any PostgresEncodable)?] = []) throws -> String {
        let rows = try objects(query, parameters)
        return rows.isEmpty ? "[]" : "[\n" + rows.joined(separator: ",\n") + "\n]"
    }

    /// Runs a query and gives each of its rows as a JSON object, which is one line.
    func objects(_ query: String, _ parameters: [(any PostgresEncodable)?]) throws -> [String] {
        try session.query("SELECT row_to_json(record)::text FROM (\(query)) AS record", parameters).map { row in
            try row.decode(0, as: String.self).visibleJSON
        }
    }
}
