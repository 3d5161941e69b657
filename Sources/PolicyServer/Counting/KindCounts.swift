// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// How many checks one kind of client made.
struct KindCounts: Sendable, Equatable {
    static let zero = KindCounts()

    var checks = 0
    var messages = 0
    var lockouts = 0
}
