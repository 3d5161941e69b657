import Postgres
import UpdatePolicy

extension Chart {
    /// The name of the series of all that have none of their own.
    package static let others = "others"
    package static let lockout = "lockout"
    /// The most marks of a chart: the newest.
    static let mostMarks = 20

    /// Parts of wholes; nil where the whole is nothing.
    static func shares(_ parts: [Int64], of wholes: [Int64]) -> [Double?] {
        zip(parts, wholes).map { part, whole in whole > 0 ? Double(part) / Double(whole) : nil }
    }

    /// The newest changes of rules and apps as marks on the axis of time; none where the history may not be read.
    static func marks(_ filter: HistoryFilter, _ session: PostgresSession) throws -> [Mark] {
        guard try !DatabaseStatus.Hidden.history.isHidden(session) else { return [] }
        let words = ChangeWords { "\($0)" }
        let history = try PolicyHistory(session, rowsPerChange: ChangeWords.mostNames)
        return try history.changes(filter).reversed().map { change in
            let values = words.summaryWithValues(change).dropFirst(words.summary(change).count)
            return Mark(at: change.at, change: change.id, label: ChangeWords.summary(change) + Sentence(String(values)))
        }
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
