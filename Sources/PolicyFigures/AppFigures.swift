// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import PolicyStore
public import Postgres
public import UpdatePolicy

/// What was counted of one app: claims of its clients.
public struct AppFigures: Sendable {
    /// Checks of one version, all its spellings taken together.
    public struct VersionCount: Sendable, Equatable {
        /// The spelling that most checks have; nil: not sent or unreadable.
        public let version: String?
        /// The platform; nil: not sent.
        public let platform: String?
        /// How many checks.
        public let checks: Int64
    }

    /// A platform with its checks.
    public struct PlatformCount: Sendable, Equatable {
        /// The platform; nil: not sent.
        public let platform: String?
        /// How many checks.
        public let checks: Int64
    }

    /// The newest release of a platform.
    public struct Adoption: Sendable {
        /// How it spread.
        public let newest: ReleaseAdoption
        /// How the release before it spread; nil where there is none.
        public let previous: ReleaseAdoption?
        /// Its share of the platform's current checks; nil where the platform has none.
        public let share: Double?
    }

    /// The app as the policy spells it; as it was asked for where the policy has no such app.
    public let bundle: String
    /// The app in the policy; nil where it has none of this name.
    public let app: App?
    /// The steps of time.
    public let period: CountPeriod
    /// The checks of each step; nil where there were none.
    public let totals: [CheckTotals?]
    /// All checks of the period.
    public let total: CheckTotals
    /// Most checks first.
    public let platforms: [PlatformCount]
    /// Since when checks are current: the last 24 hours, or all that is shown if there were none in it.
    public let currentSince: Timestamp
    /// The current checks by platform and version, most checks first.
    public let current: [VersionCount]
    /// Platforms with a release, by name.
    public let adoptions: [Adoption]
    /// Checks that were merged because they came from too many kinds of clients; nil where there are none.
    public let merged: MergedChecks?
    /// The versions that cannot be read; nil where all can.
    public let unreadable: UnreadableVersions?
    /// The charts: versions, adoption on each platform, messages, systems, regions.
    public let charts: [Chart]

    /// How many days the figures cover.
    public var days: Int { period.days }
    /// How many of the checks are current.
    public var currentChecks: Int64 { current.reduce(0) { $0 + $1.checks } }

    /// Reads the counts of an app; of one that is not there, or that did not ask, there are none.
    ///
    /// - Parameters:
    ///   - bundle: The app; case does not count.
    ///   - days: How many days before `time`; one day is the last 24 hours.
    ///   - time: Now.
    public init(bundle: String, days: Int, at time: Timestamp, _ session: PostgresSession) throws {
        let policy = try PolicyReader.policy(session, bundles: [bundle])
        let reader = CountReader(session)
        app = policy.apps.first
        let bundle = app?.bundle ?? bundle
        let period = CountPeriod(days: days, at: time)
        let lastDay = CountPeriod(days: 1, at: time)
        self.bundle = bundle
        self.period = period
        totals = try reader.totals(of: bundle, in: period)
        total = totals.reduce(into: CheckTotals.none) { if let totals = $1 { $0 += totals } }
        let versions = try reader.versions(of: bundle, in: period)
        let recent = period == lastDay ? versions : try reader.versions(of: bundle, in: lastDay)
        merged = try reader.ifReadable { try $0.mergedChecks(days: days, bundles: [bundle]) }?.first
        unreadable = UnreadableVersions(ofApp: bundle, among: versions.map { (version: $0.name, checks: $0.checks) })
        platforms = Dictionary(grouping: versions, by: \.platform)
            .map { PlatformCount(platform: $0, checks: $1.reduce(0) { $0 + $1.checks }) }
            .sorted { ($1.checks, $0.platform ?? "") < ($0.checks, $1.platform ?? "") }
        let isRecent = !recent.isEmpty
        currentSince = isRecent ? lastDay.start : period.start
        let current = isRecent ? recent : versions
        self.current = Dictionary(grouping: current, by: \.platform)
            .flatMap { platform, counts in Self.versions(counts, platform: platform) }
            .sorted { ($1.checks, $0.platform ?? "") < ($0.checks, $1.platform ?? "") }
        let newest = NewestRelease.perPlatform(policy.releases, at: time).map { release in
            (newest: release, previous: release.previous(among: policy.releases, at: time))
        }
        adoptions = try reader.adoptions(of: newest, bundle: bundle, at: time).map { newest, previous in
            Adoption(newest: newest, previous: previous, share: Self.share(of: newest.release, current))
        }
        let edits =
            try PolicyHistory.isReadable(session)
            ? try PolicyHistory(session).ruleEdits(ofApp: bundle, since: period.start, limit: Chart.mostMarks) : []
        charts =
            [
                try Self.versionsChart(bundle, period, totals, versions, current, isRecent: isRecent, reader)
            ] + adoptions.map { Self.adoptionChart($0, at: time) }
            + [
                Self.messagesChart(period, totals, total, edits),
                Self.systemsChart(period, total, try reader.systems(of: bundle, in: period)),
                Self.regionsChart(period, total, try reader.regions(of: bundle, in: period)),
            ]
    }

    /// The versions among counts, the greatest first and what cannot be read last.
    public static func versions(_ counts: [PlatformChecks], platform: String?) -> [VersionCount] {
        spellings(counts).map { _, counts in
            VersionCount(
                version: counts.first { $0.name.flatMap { AppVersion($0) } != nil }?.name,
                platform: platform,
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

    private static func share(of release: NewestRelease, _ counts: [PlatformChecks]) -> Double? {
        let onPlatform = counts.filter { $0.platform == release.platform }
        let all = onPlatform.reduce(0) { $0 + $1.checks }
        guard all > 0 else { return nil }
        let reached = onPlatform.filter { count in
            count.name.flatMap { AppVersion($0) }.map { !($0 < release.version) } ?? false
        }
        return Double(reached.reduce(0) { $0 + $1.checks }) / Double(all)
    }
}
