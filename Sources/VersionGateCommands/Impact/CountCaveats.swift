// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import UpdatePolicy

/// Says in words what figures from counts cannot say.
enum CountCaveats {
    /// Whose word the counts are.
    static let unverified = "The counts are what clients said of themselves; nobody has verified it."

    /// A line for each caveat.
    ///
    /// - Parameters:
    ///   - uncounted: What could not be judged although it matters.
    ///   - recent: The counts.
    static func lines(uncounted: Set<UncountedCondition>, recent: RecentChecks) -> [String] {
        var lines: [String] = []
        let conditions = uncounted.subtracting([.rollout]).map(\.rawValue).sorted()
        if !conditions.isEmpty {
            lines.append(
                "The figures say how many at most: \(conditions.joined(separator: " and ")) of clients are not counted."
            )
        }
        if uncounted.contains(.rollout) {
            lines.append(
                "A rollout is taken as that share of the checks; clients that send no install are reached only at 100 %."
            )
        }
        lines.append(unverified)
        if recent.unknown > 0 {
            let share = NumberText.percent(Double(recent.unknown), of: Double(recent.known + recent.unknown))
            lines.append(
                "Not known: \(NumberText.count(recent.unknown)) more checks (\(share) of all), of apps that were not added"
                    + " or of too many kinds of clients to tell apart."
            )
        }
        return lines + warnings(recent.merged)
    }

    /// A warning for each app of which more kinds of clients checked than are kept apart; those with most checks only.
    static func warnings(_ merged: [MergedChecks]) -> [String] {
        let most = 5
        return merged.prefix(most).map { merged in
            "Warning: \(NumberText.count(merged.checks)) checks of \(merged.bundle) were of more kinds of clients than are"
                + " kept apart; of these at most the version is known. Somebody may be making versions up."
        }
    }

    /// A warning for each app of which some versions cannot be read.
    static func warnings(_ unreadable: [UnreadableVersions]) -> [String] {
        unreadable.map { app in
            let share = NumberText.percent(Double(app.checks), of: Double(app.allChecks))
            let examples = app.examples.map { example in
                example.version == ClientKind.unkeptVersion ? "one too long or not in ASCII" : example.version
            }
            return "Warning: \(NumberText.count(app.checks)) checks of \(app.bundle) (\(share)) name a version that"
                + " cannot be read: \(examples.joined(separator: ", "))\(app.examples.count < 3 ? "" : ", ...")."
                + " No rule with versions or a target reaches them."
        }
    }

    /// A warning for each pre-release that looks like a release; the most frequent only.
    static func warnings(_ twins: [PreReleaseTwin]) -> [String] {
        let most = 5
        var lines = twins.prefix(most).map { twin in
            "Warning: \(NumberText.count(twin.checks)) checks come from version \(twin.version), a pre-release: it sorts"
                + " below \(twin.release), so <\(twin.release) reaches it."
        }
        if twins.count > most { lines.append("Warning: so it is for \(twins.count - most) more versions.") }
        return lines
    }
}
