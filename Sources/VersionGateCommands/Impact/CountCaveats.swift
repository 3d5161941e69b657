import PolicyStore
import UpdatePolicy

/// The caveats of figures from counts, in words.
enum CountCaveats {
    /// That counts are not verified.
    static let unverified = "The counts are what clients said of themselves; nobody has verified it."

    /// That figures are upper bounds, and by which conditions; none where they are not.
    static func notCounted(_ uncounted: Set<Condition>) -> [String] {
        let conditions = uncounted.subtracting([.rollout]).map(\.rawValue).sorted().joined(separator: " and ")
        return conditions.isEmpty
            ? [] : ["The figures say how many at most, because \(conditions) of clients are not counted."]
    }

    /// A line for each caveat.
    ///
    /// - Parameters:
    ///   - uncounted: The conditions that matter and are not counted.
    ///   - recent: The counts.
    static func lines(uncounted: Set<Condition>, recent: RecentChecks) -> [String] {
        var lines = tooFew(recent.known) + notCounted(uncounted)
        if uncounted.contains(.rollout) {
            lines.append(
                "A rollout is a share of all installations, so a small sample differs; clients that send no install are"
                    + " reached only at 100 %."
            )
        }
        lines.append(unverified)
        if recent.unknown > 0 {
            let share = NumberText.percent(Double(recent.unknown), of: Double(recent.known + recent.unknown))
            lines.append(
                "Not included: \(NumberText.checks(recent.unknown, "more")) (\(share) of all), of apps that were not added, or"
                    + " of too many kinds of clients to count separately."
            )
        }
        return lines + warnings(recent.merged)
    }

    /// That checks are too few to judge by, where they are.
    static func tooFew(_ checks: Int64) -> [String] {
        guard Double(checks) < NumberText.fewestJudged else { return [] }
        return [
            "\(checks == 1 ? "1 check is" : "\(checks) checks are") too few to judge by; the figures say little about"
                + " other users."
        ]
    }

    /// A warning for each app with merged checks; the apps with most of them only.
    static func warnings(_ merged: [MergedChecks]) -> [String] {
        let most = 5
        return merged.prefix(most).map { merged in
            "Warning: \(NumberText.checks(merged.checks)) of \(merged.bundle) came from too many kinds of clients to"
                + " count separately; at most their version is known. Somebody may be inventing versions."
        }
    }

    /// A warning for each app of which some versions cannot be read.
    static func warnings(_ unreadable: [UnreadableVersions]) -> [String] {
        unreadable.map { app in
            let share = NumberText.percent(Double(app.checks), of: Double(app.allChecks))
            let examples = app.examples.map { example in
                example.version == ClientKind.unkeptVersion ? "one that cannot be shown" : example.version
            }
            return "Warning: \(NumberText.checks(app.checks)) of \(app.bundle) (\(share)) with a version that"
                + " cannot be read: \(examples.joined(separator: ", "))\(app.examples.count < 3 ? "" : ", ...")."
                + " No rule with versions or a target reaches them."
        }
    }

    /// A warning for each pre-release with the numbers of a release; the most frequent only.
    static func warnings(_ preReleases: [PreReleaseMatch]) -> [String] {
        let most = 5
        var lines = preReleases.prefix(most).map { match in
            "Warning: \(NumberText.checks(match.checks)) of version \(match.version), a pre-release: it sorts"
                + " below \(match.release), so <\(match.release) reaches it."
        }
        if preReleases.count > most {
            lines.append("Warning: the same holds for \(preReleases.count - most) more versions.")
        }
        return lines
    }
}
