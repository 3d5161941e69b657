package import UpdatePolicy

/// The checks that servers counted in the last days. What clients claim is not verified.
package struct RecentChecks: Sendable {
    /// How many days the counts cover.
    package let days: Int

    /// The kinds of clients that checked.
    package let clients: [WeightedClient]

    /// Checks of unknown clients: of apps that are not in the policy, and of kinds that were not counted separately.
    package let unknown: Int64

    /// Checks that were merged because they came from too many kinds of clients, by app, most first.
    package let merged: [MergedChecks]

    /// Whether the counts could be read; where not, nothing is known.
    package let isKnown: Bool

    /// The number of checks of known kinds of clients.
    package var known: Int64 { clients.reduce(0) { $0 + $1.checks } }

    /// Whether no kind of client is known.
    package var isEmpty: Bool { clients.isEmpty }
}

/// How many checks of an app were merged because they came from too many kinds of clients.
///
/// Of these checks the version is known where it is that of a release, and else nothing.
package struct MergedChecks: Sendable, Equatable {
    /// The app.
    package let bundle: String

    /// How many checks.
    package let checks: Int64

    /// How many checks of the app are counted with what is known of them; those of a release are among ``checks``, too.
    package let kept: Int64

    /// Their share of the app's checks, the least it can be.
    package var share: Double { Double(checks) / Double(max(1, checks + kept)) }
}

/// How many checks of an app in an hour were merged because they came from too many kinds of clients.
///
/// They are among the counts of checks, too: with their version alone where it is that of a release, else without
/// anything.
package struct MergedCount: Sendable, Hashable {
    /// The start of the hour.
    package var hour: Timestamp
    /// The app's bundle as the policy spells it.
    package var bundle: String
    /// How many checks were answered.
    package var checks: Int

    /// Creates a count.
    package init(hour: Timestamp, bundle: String, checks: Int) {
        self.hour = hour
        self.bundle = bundle
        self.checks = checks
    }
}
