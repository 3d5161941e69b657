// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// What a check compares rules with: the client in the terms of one group of rules, and the time.
struct CheckFacts {
    let time: Int64
    /// The number of the client's platform; -1 where it sent none, or none that the policy knows.
    let platform: Int32
    /// The letters of the client's region; 0 for none.
    let region: UInt16
    let versionRank: UInt32
    let buildRank: UInt32
    let osRank: UInt32

    init(_ client: borrowing Client, platform: Int32, time: Int64, on scales: RuleScales) {
        self.time = time
        self.platform = platform
        region = client.region?.letters ?? 0
        versionRank = client.versionKey.map { scales.versions.rank(of: $0) } ?? RankInterval.unreadable
        buildRank = client.buildKey.map { scales.builds.rank(of: $0) } ?? RankInterval.unreadable
        osRank = client.osKey.map { scales.os.rank(of: $0) } ?? RankInterval.unreadable
    }
}
