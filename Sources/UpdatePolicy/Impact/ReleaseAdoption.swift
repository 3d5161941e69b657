// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// How a release spread among the checks of its platform.
public struct ReleaseAdoption: Sendable {
    /// The checks of one version in one hour, or in one day where hours are no longer kept.
    public struct Count: Sendable {
        /// When the hour or day begins.
        public let start: Timestamp
        /// The version as clients sent it; nil where it was not sent.
        public let version: String?
        /// How many.
        public let checks: Int64

        /// A count of checks.
        public init(start: Timestamp, version: String?, checks: Int64) {
            self.start = start
            self.version = version
            self.checks = checks
        }
    }

    /// The release.
    public let release: NewestRelease

    /// The first hour in which at least half of the checks of the platform came from the release or a greater version;
    /// nil if there was none yet.
    public let halfAt: Timestamp?

    /// Follows a release.
    ///
    /// - Parameters:
    ///   - release: The release.
    ///   - counts: The checks of its platform, in any order; those from before it was live do not count.
    public init(of release: NewestRelease, counts: some Sequence<Count>) {
        var hours: [Timestamp: (all: Int64, reached: Int64)] = [:]
        for count in counts where count.start.advanced(byMicroseconds: Self.hour) > release.liveAt {
            hours[count.start, default: (0, 0)].all += count.checks
            if let version = count.version.flatMap({ AppVersion($0) }), !(version < release.version) {
                hours[count.start, default: (0, 0)].reached += count.checks
            }
        }
        self.release = release
        halfAt = hours.filter { $0.value.all > 0 && $0.value.reached * 2 >= $0.value.all }.keys.min()
    }

    /// How long it took from the moment the release was live, in microseconds; 0 if the hour began before.
    public var microsecondsToHalf: Int64? {
        halfAt.map { max(0, $0.microsecondsSince1970 - release.liveAt.microsecondsSince1970) }
    }

    private static let hour: Int64 = 3_600_000_000
}

/// The greatest version of an app that users of one platform can get, and since when.
public struct NewestRelease: Sendable, Equatable {
    /// The platform.
    public let platform: String

    /// The version, as it is recorded.
    public let version: AppVersion

    /// When the first users could get it.
    public let liveAt: Timestamp

    /// The newest release of each platform, by platform.
    ///
    /// - Parameters:
    ///   - releases: Those of one app.
    ///   - time: Releases that are staged, or at this time not live yet or withdrawn, do not count.
    public static func perPlatform(_ releases: [Release], at time: Timestamp) -> [NewestRelease] {
        var newest: [String: NewestRelease] = [:]
        for release in releases {
            guard !release.staged, let liveAt = release.liveAt, liveAt <= time,
                release.withdrawnAt.map({ time < $0 }) ?? true, let version = AppVersion(release.version)
            else { continue }
            let platform = Platform(release.platform).name
            if let other = newest[platform] {
                if version < other.version || (version == other.version && liveAt >= other.liveAt) { continue }
            }
            newest[platform] = NewestRelease(platform: platform, version: version, liveAt: liveAt)
        }
        return newest.values.sorted { $0.platform < $1.platform }
    }
}
