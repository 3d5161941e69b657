// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation

/// How much is compared, and with which seed: `VERSIONGATE_SEED` and `VERSIONGATE_PAIRS` say it from outside.
struct ComparisonSettings: Sendable {
    /// What the seeds of all parts are made from.
    let seed: UInt64
    /// How many policies and clients are compared in all.
    let pairs: Int

    /// The parts that run side by side, each on a database of its own.
    static let parts = [0, 1]

    static let current = ComparisonSettings(ProcessInfo.processInfo.environment)

    /// The seed of a part; that of no other seed's parts, as far as chance allows.
    func seed(ofPart part: Int) -> UInt64 {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<part { _ = generator.next() }
        return generator.next()
    }

    init(_ environment: [String: String]) {
        seed = environment["VERSIONGATE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...999_999_999)
        pairs = environment["VERSIONGATE_PAIRS"].flatMap { Int($0) } ?? 20_000
    }
}
