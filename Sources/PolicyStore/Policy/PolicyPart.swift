// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres

/// Which rows of the policy tables are read.
enum PolicyPart {
    /// All of them.
    case everything
    /// Those of some apps, and if wanted the rules for every app.
    case apps([String], rulesForEveryApp: Bool)

    /// What holds for the wanted rows of a table with the column `bundle`.
    var condition: String {
        switch self {
        case .everything: "true"
        case .apps(_, rulesForEveryApp: true): "(bundle = ANY ($1) OR bundle IS NULL)"
        case .apps(_, rulesForEveryApp: false): "bundle = ANY ($1)"
        }
    }

    /// What holds for the wanted rows of a table with the column `rule`.
    var conditionOnRule: String {
        switch self {
        case .everything: "true"
        case .apps: "rule IN (SELECT key FROM public.rules WHERE \(condition))"
        }
    }

    /// The parameters of the conditions.
    var parameters: [(any PostgresEncodable)?] {
        switch self {
        case .everything: []
        case .apps(let bundles, _): [bundles]
        }
    }
}
