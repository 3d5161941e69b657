// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import Postgres
import UpdatePolicy

/// The statistics of one app that `stats` shows.
struct AppStatistics: Sendable {
    /// Checks of one version, all its spellings taken together.
    struct VersionCount: Sendable {
        /// The spelling that most checks have; nil: not sent or unreadable.
        let version: String?
        let platform: String?
        let checks: Int64
    }

    /// Checks in one day.
    struct Day: Sendable {
        let start: Timestamp
        let checks: Int64
        let messages: Int64
        let lockouts: Int64
        /// The greatest version first.
        let versions: [VersionCount]
    }

    /// A platform with its checks.
    struct PlatformCount: Sendable {
        let platform: String?
        let checks: Int64
    }

    /// The newest release of a platform, with its share of the current checks.
    struct Adoption: Sendable {
        let release: ReleaseAdoption
        /// nil where the platform has no current checks.
        let share: Double?
    }

    let bundle: String
    let days: Int
    let byDay: [Day]
    /// Most checks first.
    let platforms: [PlatformCount]
    /// Since when checks are current: the last day, or all that is shown if there were none in it.
    let currentSince: Timestamp
    /// By platform and version, most checks first.
    let current: [VersionCount]
    let adoptions: [Adoption]
    /// Checks that were merged because they came from too many kinds of clients; nil where there are none.
    let merged: MergedChecks?
    /// nil where all versions can be read.
    let unreadable: UnreadableVersions?

    var checks: Int64 { byDay.reduce(0) { $0 + $1.checks } }
    var messages: Int64 { byDay.reduce(0) { $0 + $1.messages } }
    var lockouts: Int64 { byDay.reduce(0) { $0 + $1.lockouts } }
    var currentChecks: Int64 { current.reduce(0) { $0 + $1.checks } }

    /// Reads the counts of an app.
    ///
    /// - Throws: an error if there is no such app or nothing was counted.
    init(bundle: String, days: Int, at time: Timestamp, _ session: PostgresSession) throws {
        let policy = try PolicyReader.policy(session, bundles: [bundle])
        guard let app = policy.apps.first else {
            throw CommandError.noSuchApp(bundle, among: try PolicyReports(session).apps().map(\.bundle))
        }
        let reader = CountReader(session)
        let counts = try reader.dailyCounts(of: app.bundle, days: days)
        guard let first = counts.first else { throw CommandError.noCounts(of: app.bundle, days: days) }
        merged = try reader.mergedChecks(days: days, bundles: [app.bundle]).first
        let lastDay = try reader.countsOfLast(hours: 24, of: app.bundle)
        self.bundle = app.bundle
        self.days = days
        byDay = Self.days(counts)
        platforms = Dictionary(grouping: counts, by: \.platform)
            .map { PlatformCount(platform: $0, checks: $1.reduce(0) { $0 + $1.checks }) }
            .sorted { ($1.checks, $0.platform ?? "") < ($0.checks, $1.platform ?? "") }
        currentSince = lastDay.isEmpty ? first.start : time.advanced(byMicroseconds: -86_400_000_000)
        let current = lastDay.isEmpty ? counts : lastDay
        self.current = Dictionary(grouping: current, by: \.platform)
            .flatMap { platform, counts in Self.versions(counts, platform: platform) }
            .sorted { ($1.checks, $0.platform ?? "") < ($0.checks, $1.platform ?? "") }
        unreadable = UnreadableVersions(
            ofApp: app.bundle,
            among: counts.map { (version: $0.version, checks: $0.checks) }
        )
        adoptions = try NewestRelease.perPlatform(policy.releases, at: time).map { release in
            Adoption(
                release: try reader.adoption(of: release, bundle: app.bundle),
                share: Self.share(of: release, current)
            )
        }
    }

    private static func days(_ counts: [PeriodCount]) -> [Day] {
        Dictionary(grouping: counts, by: \.start).map { start, counts in
            Day(
                start: start,
                checks: counts.reduce(0) { $0 + $1.checks },
                messages: counts.reduce(0) { $0 + $1.messages },
                lockouts: counts.reduce(0) { $0 + $1.lockouts },
                versions: versions(counts, platform: nil)
            )
        }.sorted { $0.start < $1.start }
    }

    /// The versions among counts, the greatest first and what cannot be read last.
    private static func versions(_ counts: [PeriodCount], platform: String?) -> [VersionCount] {
        Dictionary(grouping: counts) { $0.version.flatMap { AppVersion($0) } }
            .sorted { left, right in
                guard let version = left.key, let other = right.key else { return left.key != nil && right.key == nil }
                return other < version
            }
            .map { version, counts in
                VersionCount(
                    version: version.flatMap { _ in
                        counts.max { ($0.checks, $1.version ?? "") < ($1.checks, $0.version ?? "") }?.version
                    },
                    platform: platform,
                    checks: counts.reduce(0) { $0 + $1.checks }
                )
            }
    }

    private static func share(of release: NewestRelease, _ counts: [PeriodCount]) -> Double? {
        let onPlatform = counts.filter { $0.platform == release.platform }
        let all = onPlatform.reduce(0) { $0 + $1.checks }
        guard all > 0 else { return nil }
        let reached = onPlatform.filter { count in
            count.version.flatMap { AppVersion($0) }.map { !($0 < release.version) } ?? false
        }
        return Double(reached.reduce(0) { $0 + $1.checks }) / Double(all)
    }
}
