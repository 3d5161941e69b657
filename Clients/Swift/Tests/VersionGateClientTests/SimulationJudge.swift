/// Judges what a device shows, from a log of all that has happened to it. It counts anew each time.
struct SimulationJudge {
    /// Something that happened to a message with hints.
    struct Event: Sendable {
        enum Kind: Sendable { case shown, closed, skipped }

        var kind: Kind
        var key: String
        var time: Int
    }

    /// What the last answer was, and when, if it had a lockout.
    private struct LastAnswer {
        var lockout: Shown
        var time: Int
        var version: Int
    }

    /// What the library did that it must not do.
    struct Fault: Error {
        var description: String
    }

    private(set) var log: [Event] = []
    private var answer: LastAnswer?
    /// What a new start of the app will find in storage.
    private var written: (log: [Event], answer: LastAnswer?) = ([], nil)
    private var lastAsked: Int?

    // MARK: What happens

    mutating func starts() {
        (log, answer) = written
        lastAsked = nil
    }

    mutating func storageIsLost() {
        written = ([], nil)
    }

    mutating func forgets() {
        (log, answer, lastAsked) = ([], nil, nil)
        // To delete works in full storage too.
        written = ([], nil)
    }

    mutating func writes(isFull: Bool) {
        if !isFull { written = (log, answer) }
    }

    /// The person closes or skips a message; whether that is remembered.
    mutating func uses(_ message: SimulatedMessage, isSkipped: Bool, at now: Int) -> Bool {
        guard message.hasHints else { return false }
        // After forgetting, it has been shown once.
        if !log.contains(where: { $0.key == message.key && $0.kind == .shown }) {
            log.append(Event(kind: .shown, key: message.key, time: now))
        }
        log.append(Event(kind: isSkipped ? .skipped : .closed, key: message.key, time: now))
        return true
    }

    // MARK: What must be

    /// One question, if it is time to ask.
    mutating func judgeAsking(_ questions: Int, force: Bool, at now: Int) throws(Fault) {
        let isEarly = lastAsked.map { (0..<900).contains(now - $0) } ?? false
        let expected = force || !isEarly ? 1 : 0
        guard questions == expected else { throw Fault(description: "\(questions) questions, and not \(expected)") }
        if questions == 1 { lastAsked = now }
    }

    /// After an answer: what must not be hidden is shown, in order, to the first lockout. Gives why others are hidden.
    mutating func judgeAnswer(
        _ sent: [SimulatedMessage],
        shown: [Shown],
        at now: Int,
        version: Int,
        keeps: Bool
    ) throws(Fault) -> [String] {
        var rest = shown[...]
        var hidden: [String] = []
        answer = nil
        for message in sent {
            let isNext = rest.first?.isOf(message) ?? false
            if message.isLockout {
                guard isNext else { throw Fault(description: "the lockout \(message.key) is not shown") }
                let lockout = rest.removeFirst()
                if keeps { answer = LastAnswer(lockout: lockout, time: now, version: version) }
                break
            }
            let reasons = reasonsToHide(message, at: now)
            hidden += reasons
            guard isNext == reasons.isEmpty else {
                throw Fault(description: "\(message) is \(isNext ? "shown, against \(reasons)" : "not shown")")
            }
            if isNext {
                rest.removeFirst()
                if message.hasHints { log.append(Event(kind: .shown, key: message.key, time: now)) }
            }
        }
        guard rest.isEmpty else { throw Fault(description: "shown without being sent: \(rest)") }
        return hidden
    }

    /// Without an answer: the lockout of the last one, while it holds, and nothing else.
    func judgeWithoutAnswer(shown: [Shown], at now: Int, version: Int, maximumAge: Int) throws(Fault) {
        var expected: [Shown] = []
        if let answer, maximumAge > 0, answer.version == version,
            (0...maximumAge * 86_400).contains(now - answer.time)
        {
            expected = [answer.lockout]
        }
        guard shown == expected else {
            throw Fault(description: "shown without an answer: \(shown), and not \(expected)")
        }
    }

    /// Why a message must not be shown now; empty if it must be.
    private func reasonsToHide(_ message: SimulatedMessage, at now: Int) -> [String] {
        let events = log.filter { $0.key == message.key }
        var reasons: [String] = []
        if events.contains(where: { $0.kind == .skipped }) { reasons.append("skip") }
        if let shows = message.shows, events.filter({ $0.kind == .shown }).count >= shows { reasons.append("shows") }
        if let remind = message.remind, let last = events.last, (0..<remind).contains(now - last.time) {
            reasons.append("remind")
        }
        return reasons
    }
}
