// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The versions from one bound, inclusive, to another, exclusive.
struct VersionInterval: Sendable, Equatable {
    var lower: VersionKey
    var upper: VersionKey

    /// Every version that can be read.
    static let all = VersionInterval(lower: .minimum, upper: .maximum)

    /// No version.
    static let none = VersionInterval(lower: .minimum, upper: .minimum)

    var isEmpty: Bool { !(lower < upper) }

    func contains(_ key: VersionKey) -> Bool {
        !(key < lower) && key < upper
    }

    mutating func formIntersection(_ other: VersionInterval) {
        if lower < other.lower { lower = other.lower }
        if other.upper < upper { upper = other.upper }
    }
}
