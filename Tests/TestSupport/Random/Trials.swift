// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation

/// How much is tried of what comes by chance: everything in `.ci/run`, about a tenth by default.
public enum Trials {
    /// How many policies and clients are compared: `VERSIONGATE_PAIRS`.
    public static let pairs = ProcessInfo.processInfo.environment["VERSIONGATE_PAIRS"].flatMap { Int($0) } ?? 2_000

    /// Whether everything is tried.
    public static var isWhole: Bool { pairs >= 20_000 }

    /// So many where everything is tried, else a tenth, and at least one.
    public static func count(_ whole: Int) -> Int { isWhole ? whole : max(1, whole / 10) }
}
