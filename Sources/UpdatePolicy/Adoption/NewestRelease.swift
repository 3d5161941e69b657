// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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
