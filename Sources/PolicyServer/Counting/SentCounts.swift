// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// How often the message of one rule was sent.
struct SentCounts: Sendable, Equatable {
    static let zero = SentCounts()

    var sent = 0
    var lockouts = 0
}
