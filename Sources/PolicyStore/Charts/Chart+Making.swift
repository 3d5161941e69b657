import Postgres
import UpdatePolicy

extension Chart {
    /// The name of the series of all that have none of their own.
    package static let others = "others"
    /// The name of the series of lockouts.
    package static let lockout = "lockout"
    /// The most marks of a chart: the newest.
    static let mostMarks = 20

    /// Parts of wholes; nil where the whole is nothing.
    static func shares(_ parts: [Int64], of wholes: [Int64]) -> [Double?] {
        zip(parts, wholes).map { part, whole in whole > 0 ? Double(part) / Double(whole) : nil }
    }

    /// Edits as marks on the axis of time; none where the history may not be read.
    ///
    /// - Parameter namesRule: Whether each names its rule; not needed where there is one rule alone.
    static func marks(
        _ session: PostgresSession,
        namesRule: Bool = true,
        _ edits: (PolicyHistory) throws -> [RuleEdit]
    ) throws -> [Mark] {
        guard try !DatabaseStatus.Hidden.history.isHidden(session) else { return [] }
        return try edits(PolicyHistory(session)).map { $0.mark(namesRule: namesRule) }
    }

    /// That there are no figures.
    static func nothing(_ period: String) -> String { "Nothing was counted in \(period)." }

    /// Who has most of the checks: `1.2 has 61.0 % of the 12,345 checks of the last 24 hours; 1.1 18.0 %.`
    static func ranking(
        _ names: [(name: String, checks: Int64)],
        noun: String,
        unknown: Int64,
        mostNamed: Int,
        _ period: String
    ) -> String {
        let all = names.reduce(0) { $0 + $1.checks } + unknown
        guard all > 0 else { return nothing(period) }
        func share(_ checks: Int64) -> String { NumberText.share(Double(checks), of: Double(all)) }
        let rest = unknown > 0 ? "no \(noun) that can be read \(share(unknown))" : nil
        guard let first = names.first else {
            return "None of the \(NumberText.checks(all)) of \(period) named a \(noun) that can be read."
        }
        var parts = ["\(first.name) has \(NumberText.share(first.checks, ofChecks: all)) of \(period)"]
        parts += names.dropFirst().prefix(mostNamed - 1).map { "\($0.name) \(share($0.checks))" }
        let others = names.dropFirst(mostNamed)
        if !others.isEmpty {
            let checks = others.reduce(0) { $0 + $1.checks }
            parts.append("\(others.count) other \(noun)\(others.count == 1 ? "" : "s") \(share(checks))")
        }
        return (parts + (rest.map { [$0] } ?? [])).joined(separator: "; ") + "."
    }
}

extension RuleEdit {
    /// The longest value that a label shows.
    private static let longestValue = 16

    fileprivate func mark(namesRule: Bool) -> Chart.Mark {
        let name = table == "apps" ? "app" : name
        let others = otherRows == 0 ? "" : otherRows >= Self.mostRows ? ", and many more" : ", and \(otherRows) more"
        return Chart.Mark(
            at: at, change: change, label: "\(namesRule || table == "apps" ? "\(name) " : "")\(action)\(others)"
        )
    }

    /// What was done: `added`, `rollout 10 -> 50`, `enabled`, `title and text changed`.
    private var action: String {
        if table == "rollout_steps" { return "ramp" }
        if table == "rule_texts" { return "translations" }
        guard kind == .changed else { return kind.rawValue }
        guard columns.count == 1, let column = columns.first else {
            return "\(columns.map(\.name).joined(separator: ", ")) changed"
        }
        switch (column.name, column.after) {
        case ("enabled", "true"): return "enabled"
        case ("enabled", "false"): return "disabled"
        case ("held_at", nil): return "resumed"
        case ("held_at", .some): return "held"
        case ("paused", "true"): return "paused"
        case ("paused", "false"): return "resumed"
        default:
            let (before, after) = (column.before ?? "none", column.after ?? "none")
            guard max(before.count, after.count) <= Self.longestValue else { return "\(column.name) changed" }
            return "\(column.name) \(before) -> \(after)"
        }
    }
}
