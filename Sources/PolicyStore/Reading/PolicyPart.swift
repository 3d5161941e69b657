import Postgres
import UpdatePolicy

/// Selects the rows of the policy to read, and their source.
enum PolicyPart {
    /// All of them.
    case everything
    /// All of them as they stood at a revision, rebuilt from the history.
    case revision(Int64)
    /// Those of some apps as they stood at a revision, and the rules for every app.
    case appsAt(Int64, [String])
    /// Those of some apps, and if wanted the rules for every app.
    case apps([String], rulesForEveryApp: Bool)

    /// The SQL for a table in `FROM`.
    func rows(of table: PolicyTable) -> String {
        switch self {
        case .revision(let revision), .appsAt(let revision, _):
            "public.rows_at(NULL::public.\(table.rawValue), \(revision))"
        case .everything, .apps: "public.\(table.rawValue)"
        }
    }

    /// The condition on rows of a table with the column `bundle`.
    var condition: String {
        switch self {
        case .everything, .revision: "true"
        case .appsAt:
            """
            (lower(bundle COLLATE "C") IN (SELECT lower(named COLLATE "C") FROM unnest($1::text[]) AS named)
                OR bundle IS NULL)
            """
        case .apps(_, rulesForEveryApp: true): "(bundle = ANY ($1) OR bundle IS NULL)"
        case .apps(_, rulesForEveryApp: false): "bundle = ANY ($1)"
        }
    }

    /// The condition on rows of a table with the column `rule`.
    var conditionOnRule: String {
        switch self {
        case .everything, .revision: "true"
        case .apps, .appsAt: "rule IN (SELECT key FROM \(rows(of: .rules)) AS rules WHERE \(condition))"
        }
    }

    /// The condition on rows of a table with the column `release`.
    var conditionOnRelease: String {
        switch self {
        case .everything, .revision: "true"
        case .apps, .appsAt: "release IN (SELECT id FROM \(rows(of: .releases)) AS releases WHERE \(condition))"
        }
    }

    /// The parameters of the conditions.
    var parameters: [(any PostgresEncodable)?] {
        switch self {
        case .everything, .revision: []
        case .apps(let bundles, _), .appsAt(_, let bundles): [bundles]
        }
    }
}
