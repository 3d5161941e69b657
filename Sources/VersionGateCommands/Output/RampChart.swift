// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import UpdatePolicy

/// Draws the planned percentages of a rule over time, a bar for each step.
struct RampChart {
    let steps: [RolloutStep]
    let now: Timestamp

    /// The bar is as wide as the terminal leaves room for beside the time, the percentage and the mark.
    private static var barWidth: Int { min(40, max(10, (Terminal.standardOutput.width ?? 80) - 41)) }

    /// The chart, without a line break at its end.
    var text: String {
        var lines = ["planned rollout"]
        let current = steps.last { $0.at <= now }
        for step in steps {
            let filled = step.rollout.hundredths * Self.barWidth / 10_000
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.barWidth - filled)
            let percent = "\(step.rollout) %"
            let padding = String(repeating: " ", count: max(0, 8 - percent.count))
            lines.append("  \(step.at)  \(bar) \(padding)\(percent)\(step == current ? "  <- now" : "")")
        }
        return lines.joined(separator: "\n")
    }
}
