// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures
import PolicyStore
import UpdatePolicy

/// A change as templates show it.
struct ChangeView {
    struct Row {
        let name: String
        let kind: String
        let columns: [Column]
    }

    struct Column {
        let name: String
        let before: String
        let after: String
        let hasBefore: Bool
        let hasAfter: Bool
    }

    let id: String
    let at: PageTime
    let who: String
    let tool: String
    let why: String
    let undoes: String
    let summary: String
    /// What an undo takes back: `it`, `all 28 rows of it`.
    let what: String
    /// The command for that.
    let undo: String
    let rows: [Row]
    let moreRows: String

    init(_ change: PolicyChange, _ scene: PageScene) {
        id = "\(change.id)"
        at = scene.time(change.at)
        who = change.osUser.map { "\(change.role) (\($0))" } ?? change.role
        tool = change.tool ?? ""
        why = change.why ?? ""
        undoes = change.undoes.map { "\($0)" } ?? ""
        summary = Self.summary(change)
        what = change.rowCount == 1 ? "it" : "all \(change.rowCount) rows of it"
        undo = PrintedCommand.text("undo \(change.id)")
        rows = change.rows.map(Self.row)
        let missing = change.rowCount - change.rows.count
        moreRows = missing > 0 ? "\(missing) more rows: \(PrintedCommand("history \(change.id) --details"))" : ""
    }

    /// The most characters of a value that stands in the title of a change.
    private static let longestValue = 30

    /// What it did, with the values before and after where one column of one row has short ones.
    private static func summary(_ change: PolicyChange) -> String {
        let summary = PageScene.words.summary(change)
        guard change.rowCount == 1, let row = change.rows.first, row.kind == .changed, row.columns.count == 1 else {
            return summary
        }
        let column = row.columns[0]
        let values = [column.before, column.after].map { PageScene.words.value($0, of: column.name, in: row.table) }
        guard values.allSatisfy({ $0.count <= longestValue }) else { return summary }
        return "\(summary) \(values.joined(separator: " -> "))"
    }

    /// An added or removed row has the columns that are not as they are by default.
    private static func row(_ row: PolicyChange.Row) -> Row {
        let columns = row.kind == .changed ? row.columns : ChangeWords.changedFromDefault(row)
        return Row(
            name: PageScene.words.name(row),
            kind: row.kind.rawValue,
            columns: columns.map { column in
                Column(
                    name: column.name,
                    before: PageScene.words.value(column.before, of: column.name, in: row.table),
                    after: PageScene.words.value(column.after, of: column.name, in: row.table),
                    hasBefore: row.kind != .added,
                    hasAfter: row.kind != .removed
                )
            }
        )
    }
}
