import Foundation
import UpdatePolicy

package enum ChangeFormatter {
    static let mostNames = 3

    /// What it did: `added rule bad-1.1`, `changed rule a: title, text`, `removed app a, 12 rules`.
    ///
    /// - Parameter hasValues: Whether the values of a column that alone was changed are told: `changed rule a: rollout 10 -> 50`.
    package static func summary(_ change: PolicyChange, hasValues: Bool = false) -> Sentence {
        if change.rowCount == 1, let row = change.rows.first, row.kind == .changed {
            let values = hasValues ? values(row).map { values -> Sentence in " \(values)" } : nil
            return "changed \(name(row)): \(row.columns.map(\.name).joined(separator: ", "))\(values ?? "")"
        }
        let kinds: [(PolicyChange.Kind, String)] = [(.added, "added"), (.changed, "changed"), (.removed, "removed")]
        return kinds.compactMap { kind, verb -> Sentence? in
            let counts = change.counts.filter { $0.kind == kind }
            return counts.isEmpty
                ? nil : "\(verb) \(names(counts, change.rows.filter { $0.kind == kind }, hasValues: hasValues))"
        }.joined(separator: "; ")
    }

    private static func names(_ counts: [PolicyChange.Count], _ rows: [PolicyChange.Row], hasValues: Bool) -> Sentence {
        let total = counts.reduce(0) { $0 + $1.rows }
        if total <= mostNames, rows.count == total {
            return rows.map { row -> Sentence in
                let values = hasValues ? values(row) : nil
                return values.map { "\(name(row)) (\(row.columns[0].name) \($0))" } ?? name(row)
            }.joined(separator: ", ")
        }
        return counts.map { count -> Sentence in
            if count.rows == 1, let row = rows.first(where: { $0.table == count.table }) { return name(row) }
            return "\(count.rows) \(noun(count.table))\(count.rows == 1 ? "" : "s")"
        }.joined(separator: ", ")
    }

    /// The values of the column that alone was changed, where they are short: `10 -> 50`.
    private static func values(_ row: PolicyChange.Row) -> Sentence? {
        guard row.kind == .changed, row.columns.count == 1 else { return nil }
        let (column, longestValue) = (row.columns[0], 16)
        let values = [column.before, column.after].map { value($0, of: column.name, in: row.table) }
        return values.allSatisfy { $0.plain.count <= longestValue } ? values.joined(separator: " -> ") : nil
    }

    package static func name(_ row: PolicyChange.Row) -> Sentence {
        // The key of a step is that of its rule and a time.
        if row.table == PolicyTable.rolloutSteps.rawValue, let blank = row.key.lastIndex(of: " "),
            let time = Timestamp(String(row.key[blank...].dropFirst()))
        {
            return "\(noun(row.table)) \(row.key[..<blank]) \(time: time)"
        }
        return "\(noun(row.table)) \(row.key.visible())"
    }

    package static func noun(_ table: String) -> String {
        guard let known = PolicyTable(rawValue: table) else { return table }
        return known == .ruleTexts ? "text" : String(table.dropLast()).replacing("_", with: " ")
    }

    /// A value of a column: lists without JSON's brackets; `(none)` for null.
    package static func value(_ value: String?, of column: String, in table: String) -> Sentence {
        guard let value else { return "(none)" }
        let type = PolicyTable(rawValue: table)?.columns.first { $0.name == column }?.type
        let shown: Sentence? =
            switch type {
            case .time: Timestamp(value).map { "\(time: $0)" }
            case .texts, .platforms: decoded(value, as: [String].self).map { Sentence($0.joined(separator: ", ")) }
            case .attributes:
                decoded(value, as: [String: AcceptedValues].self).map { attributes in
                    Sentence(attributes.sorted { $0.key < $1.key }.map { $1.text(of: $0) }.joined(separator: "; "))
                }
            default: nil
            }
        return shown ?? Sentence(value)
    }

    private static func decoded<Value: Decodable>(_ text: String, as _: Value.Type) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    /// The columns of an added or removed row that differ from their defaults, without its key.
    package static func changedFromDefault(_ row: PolicyChange.Row) -> [PolicyChange.Column] {
        guard let table = PolicyTable(rawValue: row.table) else { return row.columns }
        return row.columns.filter { column in
            guard let known = table.columns.first(where: { $0.name == column.name }) else { return false }
            let usual = known.defaultValue.flatMap { $0 == .null ? nil : $0.jsonValue.text }
            return known.role != .identity && (usual == nil || (column.before ?? column.after) != usual)
        }
    }
}
