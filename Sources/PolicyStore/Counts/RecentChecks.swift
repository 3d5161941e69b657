package import UpdatePolicy

/// The checks that servers counted in the last days. What clients claim is not verified.
package struct RecentChecks: Sendable {
    package let days: Int

    /// A week, so that every day of the week is in it.
    package static let usualDays = 7

    package let clients: [WeightedClient]

    /// Checks of unknown clients: of apps that are not in the policy, and of kinds that were not counted separately.
    package let unknown: Int64

    /// Checks that were merged because they came from too many kinds of clients, by app, most first.
    package let merged: [MergedChecks]

    /// Whether the counts could be read; where not, nothing is known.
    package let isKnown: Bool

    package var known: Int64 { clients.reduce(0) { $0 + $1.checks } }

    package var isEmpty: Bool { clients.isEmpty }
}

extension WeightedClient {
    /// The client that checks of a kind describe.
    ///
    /// - Throws: `ClientError`; never for what a server has counted.
    init(_ kind: ClientKind, checks: Int64) throws {
        var client = Client()
        for (name, value) in [
            ("bundle", kind.bundle), ("platform", kind.platform), ("version", kind.version), ("build", kind.build),
            ("region", kind.region), ("os", kind.os),
        ] {
            if let value { try client.set(UTF8Text(name), to: .text(UTF8Text(value))) }
        }
        self.init(client, checks: checks)
    }
}

/// How many checks of an app were merged because they came from too many kinds of clients.
///
/// Of these checks the version is known where it is that of a release, and else nothing.
package struct MergedChecks: Sendable, Equatable, Decodable {
    package let bundle: String

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
    package var hour: Timestamp
    /// The app's bundle as the policy spells it.
    package var bundle: String
    package var checks: Int

    package init(hour: Timestamp, bundle: String, checks: Int) {
        self.hour = hour
        self.bundle = bundle
        self.checks = checks
    }
}
