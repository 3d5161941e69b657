package import Postgres
package import UpdatePolicy

/// All that was counted of one app: claims of its clients.
package struct AppFigures: Sendable {
    /// Checks of one version, all its spellings taken together.
    package struct VersionCount: Sendable, Equatable {
        /// The spelling that most checks have; nil: not sent or unreadable.
        package let version: String?
        /// The platform; nil: not sent.
        package let platform: String?
        package let checks: Int64
    }

    package struct PlatformCount: Sendable, Equatable {
        /// The platform; nil: not sent.
        package let platform: String?
        package let checks: Int64
    }

    /// The newest release of a platform.
    package struct Adoption: Sendable {
        package let newest: ReleaseAdoption
        /// How the release before it spread; nil where there is none.
        package let previous: ReleaseAdoption?
        /// Its share of the platform's current checks; nil where the platform has none.
        package let share: Double?
    }

    /// The app as the policy spells it; as it was asked for where the policy has no such app.
    package let bundle: String
    package let period: CountPeriod
    package let total: CheckTotals
    /// Most checks first.
    package let platforms: [PlatformCount]
    /// Since when checks are current: the last 24 hours, or all that is shown if there were none in it.
    package let currentSince: Timestamp
    /// The current checks by platform and version, most checks first.
    package let current: [VersionCount]
    /// Platforms with a release, by name.
    package let adoptions: [Adoption]
    /// Checks that were merged because they came from too many kinds of clients; nil where there are none.
    package let merged: MergedChecks?
    /// The versions that cannot be read; nil where all can.
    package let unreadable: UnreadableVersions?
    /// Pre-releases with the numbers of a release, most checks first.
    package let preReleases: [PreReleaseMatch]
    /// The charts: versions, adoption on each platform, messages, systems, regions.
    package let charts: [Chart]

    package var days: Int { period.days }
    package var currentChecks: Int64 { current.reduce(0) { $0 + $1.checks } }

    /// Reads them, as ``AppCounts`` does, and all at once.
    package init(bundle: String, in policy: Policy, days: Int, at time: Timestamp, _ session: PostgresSession) throws {
        let counts = AppCounts(bundle: bundle, in: policy, days: days, at: time, session)
        let versions = try counts.versions.get()
        let current = try counts.current()
        self.bundle = counts.bundle
        period = counts.period
        total = try counts.total()
        merged = try counts.reader.ifReadable { try $0.mergedChecks(days: days, bundles: [counts.bundle]) }?.first
        let named = versions.map { (version: $0.name, checks: $0.checks) }
        unreadable = UnreadableVersions(ofApp: counts.bundle, among: named)
        preReleases = PreReleaseMatch.matches(among: named, releases: policy.releases)
        platforms = Dictionary(grouping: versions, by: \.platform)
            .map { PlatformCount(platform: $0, checks: $1.reduce(0) { $0 + $1.checks }) }
            .sorted { ($1.checks, $0.platform ?? "") < ($0.checks, $1.platform ?? "") }
        currentSince = current.since
        self.current = Dictionary(grouping: current.versions, by: \.platform)
            .flatMap { platform, counts in Self.versions(counts, platform: platform) }
            .sorted { ($1.checks, $0.platform ?? "") < ($0.checks, $1.platform ?? "") }
        adoptions = try counts.adoptions.get()
        charts = try counts.charts.map { try $0.chart() }
    }

    /// The versions among counts, the greatest first and what cannot be read last.
    package static func versions(_ counts: [PlatformChecks], platform: String?) -> [VersionCount] {
        spellings(counts).map { _, counts in
            VersionCount(
                version: counts.first { $0.name.flatMap { AppVersion($0) } != nil }?.name, platform: platform,
                checks: counts.reduce(0) { $0 + $1.checks }
            )
        }
    }

    /// The counts by what the version means, the greatest first and what cannot be read last; in each, the spelling with
    /// most checks first.
    static func spellings(_ counts: [PlatformChecks]) -> [(version: AppVersion?, counts: [PlatformChecks])] {
        Dictionary(grouping: counts) { $0.name.flatMap { AppVersion($0) } }
            .sorted { left, right in
                guard let version = left.key, let other = right.key else { return left.key != nil && right.key == nil }
                return other < version
            }
            .map { version, counts in
                let bySpelling = Dictionary(grouping: counts, by: \.name).map { name, counts in
                    PlatformChecks(platform: nil, name: name, checks: counts.reduce(0) { $0 + $1.checks })
                }
                return (version, bySpelling.sorted { ($1.checks, $0.name ?? "") < ($0.checks, $1.name ?? "") })
            }
    }
}
