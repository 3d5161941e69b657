// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import PolicyStore
import UpdatePolicy

/// Writes rows and values of the policy's tables for people.
enum ColumnText {
    /// What a row is and its key: `rule bad-1.1`.
    static func name(_ row: PolicyChange.Row) -> String {
        let key = row.table == PolicyTable.rolloutSteps.rawValue ? TimeText.sentence(row.key) : row.key
        return "\(noun(row.table)) \(key.visible())"
    }

    /// The noun for a row of a table.
    static func noun(_ table: String) -> String {
        switch table {
        case "apps": "app"
        case "store_links": "store link"
        case "feed_templates": "feed template"
        case "releases": "release"
        case "release_notes": "release note"
        case "rules": "rule"
        case "rule_texts": "text"
        case "rollout_steps": "rollout step"
        default: table
        }
    }

    /// A value of a column: times in the local time zone, lists without JSON's brackets; `(none)` for null.
    static func value(_ value: String?, of column: String, in table: String) -> String {
        guard let value else { return "(none)" }
        let type = PolicyTable(rawValue: table)?.columns.first { $0.name == column }?.type
        let text: String? =
            switch type {
            case .time: Timestamp(value).map { TimeText.local($0) }
            case .texts, .platforms: decoded(value, as: [String].self)?.joined(separator: ", ")
            case .attributes:
                decoded(value, as: [String: [String]].self)?.sorted { $0.key < $1.key }
                    .map { "\($0) = \($1.joined(separator: ", "))" }.joined(separator: "; ")
            default: nil
            }
        return text ?? value
    }

    private static func decoded<Value: Decodable>(_ text: String, as _: Value.Type) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    /// The columns of an added or removed row that differ from their defaults, without its key.
    static func changedFromDefault(_ row: PolicyChange.Row) -> [PolicyChange.Column] {
        guard let table = PolicyTable(rawValue: row.table) else { return row.columns }
        return row.columns.filter { column in
            guard let known = table.columns.first(where: { $0.name == column.name }) else { return false }
            let isDefault: Bool =
                switch known.defaultValue {
                case .boolean(let flag): (column.before ?? column.after) == String(flag)
                case .integer(let number): (column.before ?? column.after) == String(number)
                case .percentage(let percentage): (column.before ?? column.after) == percentage.description
                default: false
                }
            return !isDefault && known.role != .identity
        }
    }
}
