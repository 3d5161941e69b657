// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore

/// A change in one line: its id, when, who, with what, what it did, and why.
enum ChangeLine {
    /// The most rows that are named one by one.
    private static let mostNames = 3

    /// The whole line.
    static func text(_ change: PolicyChange) -> String {
        headline(change) + "  " + summary(change) + (change.why.map { "  (\($0.visible()))" } ?? "")
    }

    /// The line without what it did and why.
    static func headline(_ change: PolicyChange) -> String {
        var line =
            "\(Terminal.standardOutput.styled("\(change.id)", .bold))  \(TimeText.local(change.at))  \(change.role.visible())"
        if let osUser = change.osUser { line += " (\(osUser.visible()))" }
        if let tool = change.tool { line += "  \(tool.visible())" }
        if let undoes = change.undoes { line += "  undoes \(undoes)" }
        return line
    }

    /// What it did: `added rule bad-1.1`, `changed rule a: title, text`, `removed app a, 12 rules`.
    static func summary(_ change: PolicyChange) -> String {
        let kinds: [(PolicyChange.Kind, String)] = [(.added, "added"), (.changed, "changed"), (.removed, "removed")]
        return kinds.compactMap { kind, verb in
            let rows = change.rows.filter { $0.kind == kind }
            return rows.isEmpty ? nil : "\(verb) \(names(rows, isAlone: change.rows.count == 1))"
        }.joined(separator: "; ")
    }

    private static func names(_ rows: [PolicyChange.Row], isAlone: Bool) -> String {
        if isAlone, rows[0].kind == .changed {
            return "\(ColumnText.name(rows[0])): \(rows[0].columns.map(\.name).joined(separator: ", "))"
        }
        guard rows.count > mostNames else { return rows.map(ColumnText.name).joined(separator: ", ") }
        var counts: [(noun: String, rows: [PolicyChange.Row])] = []
        for row in rows {
            let noun = ColumnText.noun(row.table)
            if let index = counts.firstIndex(where: { $0.noun == noun }) {
                counts[index].rows.append(row)
            } else {
                counts.append((noun, [row]))
            }
        }
        return counts.map { $1.count == 1 ? ColumnText.name($1[0]) : "\($1.count) \($0)s" }.joined(separator: ", ")
    }
}
