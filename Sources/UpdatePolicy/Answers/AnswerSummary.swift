// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// What an answer held, for those who count answers.
public struct AnswerSummary: Sendable, Equatable {
    /// The app's bundle as the policy spells it; `nil` where the app is not in the policy.
    public let bundle: String?

    /// The rules whose messages were sent, in order.
    public let sent: [SentRule]

    /// How many messages were sent.
    public var messages: Int { sent.count }

    /// How many of them lock the client out.
    public var lockouts: Int { sent.count { $0.lockout } }
}
