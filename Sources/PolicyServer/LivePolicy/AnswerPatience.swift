// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// How long to wait for the answer to a statement that takes a database no time, before the connection is taken for lost.
///
/// Four times as long as the last answer took, so that a distant database is waited for and the loss of a near one is
/// noticed soon; twice as long after each answer that did not come.
struct AnswerPatience {
    static let minimum: Duration = .seconds(1)
    static let maximum: Duration = .seconds(10)

    private(set) var limit = minimum

    /// Notes that an answer came.
    mutating func answered(after duration: Duration) {
        limit = min(max(duration * 4, Self.minimum), Self.maximum)
    }

    /// Notes that none came within the limit.
    mutating func ranOut() {
        limit = min(limit * 2, Self.maximum)
    }
}
