package import PolicyStore
package import UpdatePolicy

/// What is to be known of figures from counts.
package enum CountNotes {
    package static let unverified: Report.Part = .hint("Counts are what clients report; nobody verifies them.")

    /// That figures are upper bounds, and by which conditions; none where they are not.
    package static func notCounted(_ uncounted: Set<Condition>) -> [Report.Part] {
        let conditions = uncounted.subtracting([.rollout]).map(\.rawValue).sorted().joined(separator: " and ")
        return conditions.isEmpty
            ? [] : [.hint("These figures are upper bounds, because \(conditions) of clients are not counted.")]
    }

    /// That checks are too few to judge by, where they are.
    package static func tooFew(_ checks: Int64) -> [Report.Part] {
        guard Double(checks) < NumberText.fewestJudged else { return [] }
        let subject = checks == 1 ? "1 check is" : "\(checks) checks are"
        return [.hint("\(subject) too few to judge by; the figures say little about other users.")]
    }

    package static func all(uncounted: Set<Condition>, recent: RecentChecks) -> [Report.Part] {
        var notes = tooFew(recent.known) + notCounted(uncounted)
        if uncounted.contains(.rollout) {
            notes.append(
                .hint(
                    "A rollout is a share of all installs, so a small sample may differ; clients that send no install get it only at 100 %."
                )
            )
        }
        notes.append(unverified)
        if recent.unknown > 0 {
            let share = NumberText.percent(Double(recent.unknown), of: Double(recent.known + recent.unknown))
            notes.append(
                .hint(
                    "Not included: \(NumberText.checks(recent.unknown, "more")) (\(share) of all), of apps that were not added, or of too many kinds of clients to count separately."
                )
            )
        }
        return notes + warnings(recent.merged)
    }

    /// Of each app with merged checks; of those with most of them only.
    package static func warnings(_ merged: [MergedChecks]) -> [Report.Part] {
        merged.prefix(5).map { merged in
            .warning(
                "\(NumberText.checks(merged.checks)) of \(merged.bundle) came from too many kinds of clients to count separately; at most their version is known. Somebody may be inventing versions."
            )
        }
    }

    /// Of each app of which some versions cannot be read.
    package static func warnings(_ unreadable: [UnreadableVersions]) -> [Report.Part] {
        unreadable.map { app in
            let share = NumberText.percent(Double(app.checks), of: Double(app.allChecks))
            let examples = app.examples.map {
                $0.version == ClientKind.unkeptVersion ? "one that cannot be displayed" : $0.version
            }.joined(separator: ", ")
            return .warning(
                "\(NumberText.checks(app.checks)) of \(app.bundle) (\(share)) have a version that cannot be read: \(examples)\(app.examples.count < 3 ? "" : ", ..."). No rule with versions or a target reaches them."
            )
        }
    }

    /// Of each pre-release with the numbers of a release; of the most frequent only.
    package static func warnings(_ preReleases: [PreReleaseMatch]) -> [Report.Part] {
        let most = 5
        let more = preReleases.count - most
        return preReleases.prefix(most).map { match in
            .warning(
                "\(NumberText.checks(match.checks)) of version \(match.version), a pre-release: it sorts below \(match.release), so <\(match.release) reaches it."
            )
        } + (more > 0 ? [.warning("The same is true of \(more) more version\(more == 1 ? "" : "s").")] : [])
    }
}

extension Report.Part {
    package static func hint(_ text: Sentence) -> Report.Part { .note(.init(.hint, text)) }
    package static func warning(_ text: Sentence) -> Report.Part { .note(.init(.warning, text)) }
}
