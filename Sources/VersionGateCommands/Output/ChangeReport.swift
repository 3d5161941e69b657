// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore

/// Reports what an edit changed and how to undo it.
struct ChangeReport: Sendable {
    let change: PolicyChange?
    /// The name of the database in messages.
    let database: String

    /// The report, without a line break at its end.
    var text: String {
        guard let change else {
            return "Nothing changed on \(database.visible()): the policy was like that already."
        }
        var lines = change.rows.flatMap(Self.lines)
        lines.append("Edited \(database.visible()).")
        lines.append("This is change \(change.id). To take it back: versiongate undo \(change.id)")
        return lines.joined(separator: "\n")
    }

    static func lines(for row: PolicyChange.Row) -> [String] {
        let terminal = Terminal.standardOutput
        let name = "\(noun(row.table)) \(row.key.visible())"
        switch row.kind {
        case .added:
            let columns = row.columns.filter { $0.after != nil }
            return [terminal.styled("Added \(name)", .green)] + columns.map { "  \($0.name): \(value($0.after))" }
        case .changed:
            return [terminal.styled("Changed \(name)", .yellow)]
                + row.columns.map { "  \($0.name): \(value($0.before)) -> \(value($0.after))" }
        case .removed:
            return [terminal.styled("Removed \(name)", .red)]
        }
    }

    /// The noun for a row of a table.
    static func noun(_ table: String) -> String {
        switch table {
        case "apps": "app"
        case "store_links": "store link"
        case "releases": "release"
        case "rules": "rule"
        case "rule_texts": "text"
        case "rollout_steps": "rollout step"
        default: table
        }
    }

    private static func value(_ text: String?) -> String {
        text?.visible() ?? "(none)"
    }
}
