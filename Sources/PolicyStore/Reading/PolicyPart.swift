import Postgres
import UpdatePolicy

/// The rows of the policy to read, and their source.
struct PolicyPart {
    /// The apps as they are spelled; nil: all.
    var bundles: [String]?
    /// Whether the rules for every app belong to it.
    var rulesForEveryApp = true
    /// The revision at which they stood, rebuilt from the history; nil: today's.
    var revision: Int64?

    /// The SQL for a table in `FROM`.
    func rows(of table: PolicyTable) -> String {
        let name = "public.\(table.rawValue)"
        return revision.map { "public.rows_at(NULL::\(name), \($0)) AS \(table.rawValue)" } ?? name
    }

    /// The condition on rows of a table with the column `bundle`.
    var condition: String {
        guard bundles != nil else { return "true" }
        return rulesForEveryApp ? "(bundle = ANY ($1) OR bundle IS NULL)" : "bundle = ANY ($1)"
    }

    /// The condition on rows of a table that names its owner by the column `column`.
    func condition(on column: String, of owner: PolicyTable, by key: String) -> String {
        bundles == nil ? "true" : "\(column) IN (SELECT \(key) FROM \(rows(of: owner)) WHERE \(condition))"
    }

    var parameters: [(any PostgresEncodable)?] { bundles.map { [$0] } ?? [] }
}
