/// A time from which on an edit gives something to more checks than at any time before.
package struct ImpactStep: Sendable, Equatable {
    package let at: Timestamp
    package let checks: Double
    /// The rules that give it to them, by key.
    package let rules: [String]
}

/// How many checks an edit gives something to, from now on.
struct ImpactCurve {
    struct Moment {
        let at: Timestamp
        /// The part of the kind, 0 to 1.
        let part: Double
        /// The rule that gives it to them; nil where none can be named.
        let rule: String?
    }

    private var changes: [Timestamp: (checks: Double, rules: Set<String>)] = [:]

    mutating func add(_ moments: [Moment], times checks: Int64) {
        var part = 0.0
        for moment in moments where moment.part != part {
            var change = changes[moment.at] ?? (0, [])
            change.checks += (moment.part - part) * Double(checks)
            if moment.part > part, let rule = moment.rule { change.rules.insert(rule) }
            changes[moment.at] = change
            part = moment.part
        }
    }

    /// The times at which the number of checks rises above all before; nothing is told of the rises in between.
    var steps: [ImpactStep] {
        var steps: [ImpactStep] = []
        var checks = 0.0
        for (at, change) in changes.sorted(by: { $0.key < $1.key }) {
            checks += change.checks
            // Sums of parts are not exact.
            guard checks > (steps.last?.checks ?? 0) + 1e-6 else { continue }
            steps.append(ImpactStep(at: at, checks: checks, rules: change.rules.sorted()))
        }
        return steps
    }
}
