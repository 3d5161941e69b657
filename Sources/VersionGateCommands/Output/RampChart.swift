import PolicyStore
import UpdatePolicy

/// A chart of the planned percentages of a rule, a bar for each step.
struct RampChart {
    let rule: Rule
    let now: Timestamp

    /// The bar is as wide as the terminal leaves room for beside the time, the percentage and the mark.
    private static var barWidth: Int { min(40, max(10, (Terminal.standardOutput.width ?? 80) - 49)) }

    /// The chart, without a line break at its end.
    var text: String {
        var lines = ["planned rollout"]
        let current = rule.effectiveSteps.last { $0.at <= now }
        for step in rule.steps {
            let bar = Bar([(Double(step.rollout.hundredths) / 10_000, "#", .green)])
                .text(width: Self.barWidth, on: .standardOutput)
            let percent = "\(step.rollout) %"
            let padding = String(repeating: " ", count: max(0, 8 - percent.count))
            let mark = step == current ? "  <- now" : rule.effectiveSteps.contains(step) ? "" : "  held"
            lines.append("  \(TimeText.local(step.at))  \(bar) \(padding)\(percent)\(mark)")
        }
        return lines.joined(separator: "\n")
    }
}
