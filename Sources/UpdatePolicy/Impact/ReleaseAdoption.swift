package struct ReleaseAdoption: Sendable {
    /// The checks of the platform in one hour, or in one day where hours are no longer kept.
    package struct Period: Sendable, Equatable {
        package let start: Timestamp
        package let checks: Int64
        /// Those that came from the release or a greater version.
        package let reached: Int64

        package init(start: Timestamp, checks: Int64, reached: Int64) {
            (self.start, self.checks, self.reached) = (start, checks, reached)
        }
    }

    package let release: NewestRelease

    /// The hours and days with checks since the release was live, in order of time. Its first hour may have begun before;
    /// a day that began before is left out.
    package let periods: [Period]

    /// Follows a release.
    package init(of release: NewestRelease, periods: some Sequence<Period>) {
        self.release = release
        self.periods = periods.filter {
            $0.checks > 0 && $0.start.advanced(byMicroseconds: Self.hour) > release.liveAt
        }.sorted { $0.start < $1.start }
    }

    /// The start of the first hour in which at least this part of the checks came from the release or a greater version;
    /// nil if there was none yet.
    package func start(reaching percent: Int64) -> Timestamp? {
        periods.first { $0.reached * 100 >= $0.checks * percent }?.start
    }

    /// How long it took from the moment the release was live, in microseconds; 0 if the hour began before.
    package func microseconds(toReach percent: Int64) -> Int64? {
        start(reaching: percent).map { elapsed(at: $0) }
    }

    /// How long the release was live at a time, in microseconds; 0 before.
    package func elapsed(at time: Timestamp) -> Int64 {
        max(0, time.microsecondsSince1970 - release.liveAt.microsecondsSince1970)
    }

    private static let hour: Int64 = 3_600_000_000
}

/// The greatest version of an app that users of one platform can get, and since when.
package struct NewestRelease: Sendable, Equatable {
    package let platform: String
    package let version: AppVersion
    package let liveAt: Timestamp

    /// The newest release of each platform, by platform.
    ///
    /// - Parameters:
    ///   - releases: Those of one app.
    ///   - time: Releases that are staged, or at this time not live yet or withdrawn, do not count.
    package static func perPlatform(_ releases: [Release], at time: Timestamp) -> [NewestRelease] {
        let current = releases.compactMap { release -> NewestRelease? in
            guard case .live(let liveAt) = release.state(at: time), let version = AppVersion(release.version) else {
                return nil
            }
            return NewestRelease(platform: Platform(release.platform).name, version: version, liveAt: liveAt)
        }
        return Dictionary(grouping: current, by: \.platform).values
            .compactMap { $0.max { ($0.version, $1.liveAt) < ($1.version, $0.liveAt) } }
            .sorted { $0.platform < $1.platform }
    }

    /// The greatest release below this one that users of its platform can get, and since when; nil where there is none.
    package func previous(among releases: [Release], at time: Timestamp) -> NewestRelease? {
        let older = releases.filter { AppVersion($0.version).map { $0 < version } ?? false }
        return Self.perPlatform(older, at: time).first { $0.platform == platform }
    }
}
