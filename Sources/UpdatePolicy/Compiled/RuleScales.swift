// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The scales on which the conditions of one group of rules are ranked.
final class RuleScales: Sendable {
    let versions: RankScale<VersionKey>
    let builds: RankScale<VersionKey>
    let os: RankScale<VersionKey>
    let times: RankScale<Int64>

    init(
        versions: RankScale<VersionKey>,
        builds: RankScale<VersionKey>,
        os: RankScale<VersionKey>,
        times: RankScale<Int64>
    ) {
        self.versions = versions
        self.builds = builds
        self.os = os
        self.times = times
    }
}
