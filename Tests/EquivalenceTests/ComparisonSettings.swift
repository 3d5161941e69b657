// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation

/// How much is compared, and with which seed: `VERSIONGATE_SEED` and `VERSIONGATE_PAIRS` say it from outside.
struct ComparisonSettings: Sendable {
    /// The seed of the first part; part by part it grows by one.
    let seed: UInt64
    /// How many policies and clients are compared in all.
    let pairs: Int

    /// The parts that run side by side, each on a database of its own.
    static let parts = [0, 1]

    static let current = ComparisonSettings(ProcessInfo.processInfo.environment)

    init(_ environment: [String: String]) {
        seed = environment["VERSIONGATE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max >> 1)
        pairs = environment["VERSIONGATE_PAIRS"].flatMap { Int($0) } ?? 20_000
    }
}
