// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The conditions of a rule as a check compares them: integers and runs of shared arrays, nothing that is counted.
///
/// An empty run is no condition.
struct CompiledRule: Sendable {
    /// The bits of `flags`.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8

        static let enabled = Flags(rawValue: 1 << 0)
        static let hasTarget = Flags(rawValue: 1 << 1)
        static let lockout = Flags(rawValue: 1 << 2)
        static let needsWayOut = Flags(rawValue: 1 << 3)
        static let final = Flags(rawValue: 1 << 4)
        static let linksToStore = Flags(rawValue: 1 << 5)
        static let namesApp = Flags(rawValue: 1 << 6)
    }

    var flags: Flags = []
    var rollout: UInt16 = 10_000

    var versions = PoolRange.empty
    var builds = PoolRange.empty
    var os = PoolRange.empty
    var platforms = PoolRange.empty
    var regions = PoolRange.empty
    var languages = PoolRange.empty
    var attributes = PoolRange.empty
    var steps = PoolRange.empty

    /// The prepared messages: the rule's own, then its translations.
    var fragments = PoolRange.empty

    /// The ranks of versions below the target; of all versions where there is none.
    var targetRank = UInt32.max

    /// The place of the target in the pool of targets.
    var target: UInt32 = 0

    var soak: Int64 = 0
    var startsAt = Int64.min
    var endsAt = Int64.max
}
