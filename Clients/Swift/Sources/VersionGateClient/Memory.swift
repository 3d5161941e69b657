import Foundation

/// What a gate remembers from one start to the next, and what follows from it. Times are seconds since 1970.
struct Memory: Sendable, Equatable {
    /// The random id of this installation.
    private(set) var install: String?
    /// The last valid answer, if it had a lockout.
    private var answer: KeptAnswer?
    /// What has happened to messages with hints. The one to which something has happened last is the last.
    private var messages: [KeptMessage] = []

    init() {}

    fileprivate struct KeptAnswer: Sendable, Equatable {
        var at: Int
        var version: String?
        var build: String?
        /// For how many seconds the lockout holds; nil if it has no end.
        var left: Int?
        /// When its signature expires; nil if it has none.
        var expires: Int?
        var lockout: MessageContent
    }

    fileprivate struct KeptMessage: Sendable, Equatable {
        var id: String
        var target: String?
        var shown: Int
        var last: Int
        var skipped: Bool?

        func isOf(_ content: MessageContent) -> Bool {
            id.isSame(as: content.id) && target.isSame(as: content.target)
        }
    }

    // MARK: Showing

    /// The random id of this installation, which is made if there is none.
    mutating func makeInstallIfNeeded() -> String {
        let id = install ?? UUID().uuidString.lowercased()
        install = id
        return id
    }

    /// The messages of an answer to show now, which count as shown.
    ///
    /// - Parameter isManual: Whether the person asked, and so sees also what hints would hide.
    mutating func receive(
        _ answer: Answer,
        for app: AppDescription,
        at now: Int,
        keepsLockout: Bool,
        isManual: Bool = false
    ) -> [MessageContent] {
        self.answer = nil
        // Who plays a signed answer again can hold back its time, which is not signed.
        let isSigned = answer.expires != nil
        let time = max(answer.sentAt ?? now, isSigned ? now - 86_400 : 0)
        var shown: [MessageContent] = []
        for content in answer.messages {
            if content.isLockout {
                let left = content.until.map { max($0 - time, 0) }
                if isSigned, left == 0 { continue }
                if keepsLockout {
                    self.answer = KeptAnswer(
                        at: now, version: app.version.known, build: app.build.known, left: left,
                        expires: answer.expires, lockout: content
                    )
                }
                var lockout = content
                lockout.left = left
                return shown + [lockout]
            }
            if !isManual, isHidden(content, at: now) { continue }
            change(content, at: now) { $0.shown = min($0.shown + 1, MessageContent.greatestNumber) }
            shown.append(content)
        }
        return shown
    }

    /// The lockout that holds without an answer, for at most `maximumAge` days.
    ///
    /// - Parameter needsSignature: Whether it must be signed.
    func lockout(
        for app: AppDescription,
        at now: Int,
        maximumAge: Int,
        needsSignature: Bool = false
    ) -> MessageContent? {
        guard let answer, maximumAge > 0, answer.at <= now, now - answer.at <= maximumAge * 86_400,
            answer.left.map({ now - answer.at < $0 }) ?? true,
            !needsSignature || answer.expires.map({ now < $0 }) ?? false,
            answer.version.known.isSame(as: app.version.known), answer.build.known.isSame(as: app.build.known)
        else { return nil }
        var lockout = answer.lockout
        lockout.left = answer.left.map { answer.at + $0 - now }
        return lockout
    }

    /// Whether the lockout that is kept has ended since a time that was before its end.
    func lockoutHasEnded(since earlier: Int, at now: Int) -> Bool {
        guard let answer, let left = answer.left else { return false }
        return earlier - answer.at < left && now - answer.at >= left
    }

    /// Records that the person closed, followed or skipped a message.
    mutating func note(_ content: MessageContent, at now: Int, skipped: Bool) {
        change(content, at: now) { message in
            if message.shown == 0 { message.shown = 1 }
            if skipped { message.skipped = true }
        }
    }

    private func isHidden(_ content: MessageContent, at now: Int) -> Bool {
        guard let message = messages.last(where: { $0.isOf(content) }) else { return false }
        if message.skipped == true { return true }
        if let shows = content.shows, message.shown >= shows { return true }
        if let remind = content.remind, message.last <= now, now - message.last < remind { return true }
        return false
    }

    private mutating func change(_ content: MessageContent, at now: Int, _ change: (inout KeptMessage) -> Void) {
        guard content.hasHints else { return }
        var message =
            messages.last { $0.isOf(content) }
            ?? KeptMessage(id: content.id, target: content.target, shown: 0, last: now)
        change(&message)
        message.last = now
        messages.removeAll { $0.isOf(content) }
        messages.append(message)
        messages = messages.suffix(Self.messageLimit)
    }

    private static let messageLimit = 256
}

// MARK: - The kept text

extension Memory {
    /// Reads a kept text. What of it cannot be read is not remembered.
    init(text: String?) {
        guard let kept = text.flatMap({ JSONValue($0.utf8) })?.object else { return }
        install = try? kept.optional("install", \.string)
        if let text = install, UUID(uuidString: text)?.uuidString.lowercased() != text { install = nil }
        answer = try? kept.optional("answer", \.object).map(KeptAnswer.init)
        let elements = (try? kept.optional("messages", \.elements)) ?? []
        messages = elements.compactMap { $0.object.flatMap { try? KeptMessage($0) } }.suffix(Self.messageLimit)
    }

    /// The text to keep; nil if nothing is remembered.
    var text: String? {
        guard self != Memory() else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(self) else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Memory: Encodable {
    private enum CodingKeys: CodingKey {
        case install, answer, messages
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeIfPresent(install, forKey: .install)
        try members.encodeIfPresent(answer, forKey: .answer)
        if !messages.isEmpty { try members.encode(messages, forKey: .messages) }
    }
}

extension Memory.KeptAnswer: Encodable {
    init(_ object: JSONObject) throws(JSONObject.Fault) {
        at = try object.required("at", \.wholeNumber)
        version = try object.optional("version", \.string)
        build = try object.optional("build", \.string)
        left = try object.optional("left", \.wholeNumber)
        expires = try object.optional("expires", \.wholeNumber)
        lockout = try MessageContent(try object.required("lockout", \.object))
        lockout.isLockout = true
    }
}

extension Memory.KeptMessage: Encodable {
    init(_ object: JSONObject) throws(JSONObject.Fault) {
        id = try object.required("id", \.string)
        target = try object.optional("target", \.string)
        shown = try object.required("shown", \.count)
        last = try object.required("last", \.wholeNumber)
        skipped = try object.optional("skipped", \.boolean)
    }
}

extension String {
    /// Whether both are the same bytes. `==` takes texts for equal that are written with other characters.
    fileprivate func isSame(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}

extension String? {
    /// Empty text counts as not known.
    fileprivate var known: String? { self?.isEmpty == true ? nil : self }

    fileprivate func isSame(as other: String?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.isSame(as: other)
    }
}
