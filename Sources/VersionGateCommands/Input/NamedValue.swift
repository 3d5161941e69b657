// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser

/// A name and a value on the command line: `channel=beta`, `ios=https://...`.
struct NamedValue: ExpressibleByArgument, Sendable {
    /// What stands before the first equals sign; never empty.
    let name: String
    /// What stands after it.
    let value: String

    init?(argument: String) {
        let halves = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty else { return nil }
        name = String(halves[0])
        value = String(halves[1])
    }
}
