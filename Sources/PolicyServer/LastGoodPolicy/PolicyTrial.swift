import CheckListener
import PolicyStore
import Synchronization
import UpdatePolicy

/// The trial of a policy that was just taken: a server that dies in it has noted which policy that was.
///
/// Two deaths of one policy within ten minutes hold it back at the next start. The policy that passed last answers then,
/// without its lockouts, until the ten minutes are over or the database has another policy. Where none has passed before,
/// nothing is held back.
final class PolicyTrial: Sendable {
    private struct State {
        var held: [String: Timestamp]
        var notes: [(version: PolicyVersion, note: PolicyTrialNotes.Note)] = []
        var judge: TrialJudge?
    }

    private let notes: PolicyTrialNotes
    private let clock: @Sendable () -> Timestamp
    private let passed: LastGoodPolicyFile?
    private let state: Mutex<State>

    /// Whether servers died of a policy that answers all the same, because none has passed before it.
    let hasNoFallback: Bool

    /// Looks what servers with this state folder died of.
    init(stateDirectory: String, clock: @escaping @Sendable () -> Timestamp) {
        self.clock = clock
        notes = PolicyTrialNotes(folder: stateDirectory)
        let held = notes.heldTokens(at: clock())
        let passed = LastGoodPolicyFile(stateDirectory: stateDirectory).passed.first { file in
            if case .policy(let version) = file.occupant { held[version.token] == nil } else { false }
        }
        self.passed = passed
        hasNoFallback = passed == nil && !held.isEmpty
        state = Mutex(State(held: passed == nil ? [:] : held))
    }

    /// Until when a policy is not taken, because servers died of it so often; nil: it is taken.
    func heldUntil(_ token: String) -> Timestamp? {
        let now = clock()
        return state.withLock { state in
            state.held[token].flatMap { Self.counts($0, at: now) ? $0 : nil }
        }
    }

    /// The file of the policy that answers in the place of what is held back, and until when; nil: nothing is.
    var fallback: (file: LastGoodPolicyFile, until: Timestamp)? {
        let now = clock()
        guard let passed, let end = state.withLock({ $0.held.values.filter { Self.counts($0, at: now) }.max() })
        else { return nil }
        return (passed, end)
    }

    /// Takes whatever comes: there is nothing else that could answer.
    func holdNothingBack() {
        state.withLock { $0.held = [:] }
    }

    /// Whether it is still before a time; a clock that was set back makes no death count for longer.
    private static func counts(_ until: Timestamp, at now: Timestamp) -> Bool {
        let rest = until.microsecondsSince1970 - now.microsecondsSince1970
        return rest > 0 && rest <= PolicyTrialNotes.microsecondsCounted
    }

    /// Notes a policy that is about to be compiled and to answer. Where that cannot be, it is taken all the same.
    func begin(_ version: PolicyVersion) {
        guard let note = try? notes.begin(version.token, at: clock()) else { return }
        state.withLock { $0.notes.append((version, note)) }
    }

    /// A policy was not taken.
    func abandon(_ version: PolicyVersion) {
        end { $0.version == version }
    }

    /// A policy answers from now on.
    ///
    /// - Parameter answered: How many requests were answered so far.
    func taken(_ version: PolicyVersion, at now: ContinuousClock.Instant, answered: Int) {
        end { $0.version != version }
        state.withLock { $0.judge = TrialJudge(version: version, since: now, answered: answered) }
    }

    /// Notes that the server lives, and looks whether the policy that answers has passed.
    ///
    /// - Returns: The policy, once.
    func look(at now: ContinuousClock.Instant, answered: Int) -> PolicyVersion? {
        let time = clock()
        state.withLock { state in
            for (_, note) in state.notes { notes.touch(note, at: time) }
        }
        let passed = state.withLock { state -> PolicyVersion? in
            guard state.judge?.hasPassed(at: now, answered: answered) == true else { return nil }
            defer { state.judge = nil }
            return state.judge?.version
        }
        if passed != nil { end { _ in true } }
        return passed
    }

    /// Forgets the deaths, because a policy of the database has passed.
    func forgetDeaths() {
        notes.forgetDeaths()
    }

    /// Takes back all notes: the server ends by itself.
    func stop() {
        end { _ in true }
    }

    private func end(where isOver: ((version: PolicyVersion, note: PolicyTrialNotes.Note)) -> Bool) {
        let over = state.withLock { state in
            let over = state.notes.filter(isOver)
            state.notes.removeAll(where: isOver)
            return over
        }
        for (_, note) in over { notes.end(note) }
    }
}

/// Judges when a policy has passed: it has answered for ten seconds, or nobody has asked for a minute.
struct TrialJudge {
    static let answering: Duration = {
        #if DEBUG
            if let seconds = DebugHook.trialSeconds { return .seconds(seconds) }
        #endif
        return .seconds(10)
    }()
    static let silence: Duration = .seconds(60)

    let version: PolicyVersion
    private let since: ContinuousClock.Instant
    private let answeredBefore: Int
    private var firstAnswer: ContinuousClock.Instant?

    init(version: PolicyVersion, since: ContinuousClock.Instant, answered: Int) {
        (self.version, self.since, answeredBefore) = (version, since, answered)
    }

    /// Whether it has passed, by how many requests were answered in all.
    mutating func hasPassed(at now: ContinuousClock.Instant, answered: Int) -> Bool {
        if firstAnswer == nil, answered > answeredBefore { firstAnswer = now }
        return firstAnswer.map { now - $0 >= Self.answering } ?? (now - since >= Self.silence)
    }
}
