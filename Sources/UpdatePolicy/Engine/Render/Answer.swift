/// An answer to a check and what it holds, in memory that the next answer uses again.
package struct Answer: Sendable {
    package var body: [UInt8] { writer.withBytes { Array($0) } }

    package internal(set) var writer = ByteWriter()

    package internal(set) var sent: [SentRule] = []

    /// What distinguishes it from the usual answer; nearly always nothing.
    package internal(set) var remarks = Remarks.none

    /// What the head of a response may say about an answer.
    package enum Remarks: UInt8, Sendable {
        case none
        case lockout
        /// Its lockouts are sent as plain messages, because the brake is on.
        case brake
    }

    /// The app's bundle as the policy spells it; `nil` where the app is not in the policy.
    package internal(set) var bundle: String?

    /// The index of the client's app; -1 where the policy has nothing about it.
    var appIndex: Int32 = -1

    var languages = TextLanguages()

    package init() {}

    package var messages: Int { sent.count }

    package var lockouts: Int { sent.count { $0.lockout } }

    /// Makes this the answer of a server that has no policy yet: no messages.
    package mutating func writeWithoutPolicy(shape: AnswerShape) {
        clear()
        writer.append(shape == .legacy ? MessageBytes.emptyLegacyAnswer : MessageBytes.emptyAnswer)
    }

    mutating func clear() {
        writer.removeAll()
        remarks = .none
        languages.areFound = false
        if !sent.isEmpty { sent.removeAll(keepingCapacity: true) }
    }
}

/// The languages in which a client is to get its texts, in memory that the next answer uses again.
struct TextLanguages: Sendable {
    var areFound = false
    /// The numbers of the client's language and of what is left of it, subtag by subtag, as far as there are such texts.
    var numbers: [UInt32] = []
}

package struct SentRule: Sendable, Hashable {
    /// Which rule, for `CompiledPolicy.key(of:)`.
    package let id: RuleID

    package internal(set) var lockout = false
}

/// A rule of a compiled policy; it means nothing in another.
package struct RuleID: Sendable, Hashable {
    /// The index of the rule's app; -1 for the rules for every app.
    package let app: Int32

    /// The index of the rule among those of its app, or of every app.
    package let index: UInt32
}

package enum AnswerShape: Sendable {
    case standard

    /// Those of the 2013 original, whose text is called `message`, which has no hints, and whose client cannot read an
    /// empty list: no match is an empty object.
    case legacy
}

package struct Message: Sendable, Equatable {
    package let id: String

    /// In the client's language where there is a translation, as the text.
    package let title: String
    package let text: String
    package internal(set) var link: String?
    package internal(set) var lockout = false

    /// When the lockout ends, in whole seconds since 1970-01-01T00:00:00Z, rounded up; `nil` where no end is set, and in
    /// messages without lockout.
    package internal(set) var until: Int64?

    /// How often it is to be shown; `nil` where the rule does not say, and in lockouts.
    package internal(set) var hints: MessageHints?
}

extension Message {
    /// A message of a rule, whenever it is sent: without an end and hints.
    package init(id: String, title: String, text: String, link: String?, lockout: Bool) {
        self.init(id: id, title: title, text: text, link: link, lockout: lockout, until: nil)
    }
}

/// What a message asks of clients about showing it again. They keep count for the pair of the message's id and target.
package struct MessageHints: Sendable, Equatable {
    /// How many seconds after it was shown it may be shown again; `nil`: at every start.
    package let remind: Int64?

    /// How often it may be shown on one installation; `nil`: without limit.
    package let shows: Int64?

    package let skip: Bool

    /// The version that its rule asks clients to reach; `nil` where there is none.
    package let target: String?

    /// How often the message is shown, for people: `Shown again after 1 day, at most 3 times; can be skipped.`
    package var sentence: String {
        var shown: [String] = []
        if let seconds = remind, shows != 1 {
            shown.append("again after \(DayTimeInterval(microseconds: seconds * 1_000_000))")
        }
        if let shows = shows { shown.append(shows == 1 ? "once" : "at most \(shows) times") }
        guard !shown.isEmpty else { return "Can be skipped." }
        return "Shown \(shown.joined(separator: ", "))\(skip ? "; can be skipped" : "")."
    }
}
