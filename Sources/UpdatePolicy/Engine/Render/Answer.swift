// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// An answer to a check and what it holds, in memory that the next answer uses again.
public struct Answer: Sendable {
    /// The JSON object that the client gets.
    public var body: [UInt8] { writer.withBytes { Array($0) } }

    /// Writes the JSON object.
    package internal(set) var writer = ByteWriter()

    /// The rules whose messages were sent, in order.
    public internal(set) var sent: [SentRule] = []

    /// The app's bundle as the policy spells it; `nil` where the app is not in the policy.
    public internal(set) var bundle: String?

    /// An answer that is not written yet.
    public init() {}

    /// How many messages were sent.
    public var messages: Int { sent.count }

    /// How many of them lock the client out.
    public var lockouts: Int { sent.count { $0.lockout } }

    /// Makes this the answer of a server that has no policy yet: no messages.
    public mutating func writeWithoutPolicy(shape: AnswerShape) {
        clear()
        writer.append(shape == .legacy ? MessageBytes.emptyLegacyAnswer : MessageBytes.emptyAnswer)
    }

    mutating func clear() {
        writer.removeAll()
        if !sent.isEmpty { sent.removeAll(keepingCapacity: true) }
    }
}

/// A rule whose message was sent.
public struct SentRule: Sendable, Hashable {
    /// Which rule, for `CompiledPolicy.key(of:)`.
    public let id: RuleID

    /// Whether the message locks the client out.
    public internal(set) var lockout = false
}

/// A rule of a compiled policy; it means nothing in another.
public struct RuleID: Sendable, Hashable {
    /// The index of the rule's app; -1 for the rules for every app.
    public let app: Int32

    /// The index of the rule among those of its app, or of every app.
    public let index: UInt32
}

/// The names that an answer uses.
public enum AnswerShape: Sendable {
    /// The names of the contract.
    case standard

    /// Those of the 2013 original, whose text is called `message`, which has no hints, and whose client cannot read an
    /// empty list: no match is an empty object.
    case legacy
}

/// A message for the user of a client.
public struct Message: Sendable, Equatable {
    /// The key of the rule it comes from.
    public let id: String

    /// The title, in the client's language where there is a translation.
    public let title: String

    /// The text, in the same language as the title.
    public let text: String

    /// The link to follow, if there is one.
    public let link: String?

    /// Whether the app is to be unusable until it is updated.
    public let lockout: Bool

    /// When the lockout ends, in whole seconds since 1970-01-01T00:00:00Z, rounded up; `nil` where no end is set, and in
    /// messages without lockout.
    public let until: Int64?

    /// How often it is to be shown; `nil` where the rule does not say, and in lockouts.
    public let hints: MessageHints?

    /// A message with these members.
    public init(
        id: String,
        title: String,
        text: String,
        link: String? = nil,
        lockout: Bool = false,
        until: Int64? = nil,
        hints: MessageHints? = nil
    ) {
        self.id = id
        self.title = title
        self.text = text
        self.link = link
        self.lockout = lockout
        self.until = until
        self.hints = hints
    }
}

/// What a message asks of clients about showing it again. They keep count for the pair of the message's id and target.
public struct MessageHints: Sendable, Equatable {
    /// How many seconds after it was shown it may be shown again; `nil`: at every start.
    public let remind: Int64?

    /// How often it may be shown on one installation; `nil`: without limit.
    public let shows: Int64?

    /// Whether the person may choose never to see it again.
    public let skip: Bool

    /// The version that its rule asks clients to reach; `nil` where there is none.
    public let target: String?

    /// The hints of a message with these members.
    public init(remind: Int64?, shows: Int64?, skip: Bool, target: String?) {
        self.remind = remind
        self.shows = shows
        self.skip = skip
        self.target = target
    }
}
