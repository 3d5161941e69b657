// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The arrays that the compiled rules of one group share.
struct RulePools: Sendable {
    /// The secret of the hashes that rules are filed under.
    let hashSeed: UInt64

    var intervals: [RankInterval] = []
    var platforms: [Int32] = []
    var regions: [UInt16] = []
    var languages: [LanguageTag] = []
    var attributes: [CompiledAttribute] = []
    var steps: [CompiledStep] = []
    var targets: [VersionKey] = []
    var fragments: [Fragment] = []

    /// The prepared bytes of all messages.
    var bytes: [UInt8] = []

    /// For each rule its prepared link, from the comma before the name on; empty where it has none of its own.
    var links: [Range<Int>] = []

    init(hashSeed: UInt64) {
        self.hashSeed = hashSeed
    }
}

extension Array {
    /// Appends elements and tells where they are.
    mutating func appendRun(_ elements: some Sequence<Element>) -> PoolRange {
        let start = count
        append(contentsOf: elements)
        return PoolRange(start: UInt32(start), count: UInt32(count - start))
    }
}
