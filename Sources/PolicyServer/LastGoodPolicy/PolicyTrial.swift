import CheckListener
import Logging
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
        var held: [String: Timestamp] = [:]
        /// nil where nothing can be noted.
        var file: PolicyTrialFile?
        var deaths: [PolicyTrialFile.Death] = []
        var onTrial: [PolicyVersion] = []
        var judge: TrialJudge?

        init(_ file: PolicyTrialFile?) {
            use(file)
        }

        mutating func use(_ file: PolicyTrialFile?) {
            (self.file, deaths) = (file, file?.deaths ?? [])
        }

        func save(at now: Timestamp) {
            if let file, file.isOurs { file.write(onTrial.map(\.token), deaths, at: now) }
        }
    }

    private let path: String
    private let clock: @Sendable () -> Timestamp
    private let passed: LastGoodPolicyFile?
    private let state: Mutex<State>

    /// Whether servers died of a policy that answers all the same, because none has passed before it.
    let hasNoFallback: Bool

    /// Looks what servers with this state folder died of.
    init(stateDirectory: String, clock: @escaping @Sendable () -> Timestamp) {
        self.clock = clock
        path = stateDirectory + "/policy-trial"
        let file = PolicyTrialFile(path, at: clock(), creates: false)
        let held = file?.heldTokens ?? [:]
        let passed = LastGoodPolicyFile(stateDirectory: stateDirectory).passed.first { file in
            if case .policy(let version) = file.occupant { held[version.token] == nil } else { false }
        }
        self.passed = passed
        hasNoFallback = passed == nil && !held.isEmpty
        var state = State(file)
        if passed != nil { state.held = held }
        // Those that died with something on trial are noted as such.
        state.save(at: clock())
        self.state = Mutex(state)
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
        return rest > 0 && rest <= PolicyTrialFile.microsecondsCounted
    }

    /// Notes a policy that is about to be compiled and to answer. Where that cannot be, it is taken all the same.
    func begin(_ version: PolicyVersion) {
        let now = clock()
        state.withLock { state in
            // The folder may not have been there at the start, or another server may have had the file.
            if state.file?.isOurs != true { state.use(PolicyTrialFile(path, at: now, creates: true)) }
            state.onTrial.append(version)
            state.save(at: now)
        }
    }

    func abandon(_ version: PolicyVersion) {
        end { $0 == version }
    }

    /// A policy answers from now on.
    func taken(_ version: PolicyVersion, at now: ContinuousClock.Instant, answered: Int) {
        end { $0 != version }
        state.withLock { $0.judge = TrialJudge(version: version, since: now, answered: answered) }
    }

    /// Notes that the server lives, and looks whether the policy that answers has passed.
    ///
    /// - Returns: The policy, once.
    func look(at now: ContinuousClock.Instant, answered: Int) -> PolicyVersion? {
        let time = clock()
        let passed = state.withLock { state -> PolicyVersion? in
            if !state.onTrial.isEmpty, let file = state.file, file.isOurs { file.touch(at: time) }
            guard state.judge?.hasPassed(at: now, answered: answered) == true else { return nil }
            defer { state.judge = nil }
            return state.judge?.version
        }
        if passed != nil { stop() }
        return passed
    }

    /// Forgets the deaths, because a policy of the database has passed.
    func forgetDeaths() {
        let now = clock()
        state.withLock { state in
            state.deaths = []
            state.save(at: now)
        }
    }

    /// Nothing is on trial any more: a policy has passed, or the server ends by itself.
    func stop() {
        end { _ in true }
    }

    private func end(where isOver: (PolicyVersion) -> Bool) {
        let now = clock()
        state.withLock { state in
            state.onTrial.removeAll(where: isOver)
            state.save(at: now)
        }
    }

    /// Ends trials, and keeps policies that have passed as those to fall back on, until the task is cancelled.
    func run(_ file: LastGoodPolicyFile, _ server: ServerState) async {
        let policy = server.policy
        // It may be on disk only later.
        var unkept: PolicyVersion?
        while (try? await Task.sleep(for: .milliseconds(200))) != nil {
            if let passed = look(at: .now, answered: server.statistics.answeredRequests) {
                // Those of a policy that this one is in place of.
                if policy.status.source == .database { forgetDeaths() }
                unkept = passed
            }
            guard let version = unkept else { continue }
            guard policy.status.source == .database, policy.current?.version == version else {
                unkept = nil
                continue
            }
            do {
                if try await LowPriorityThread.run({ try file.keepAsPassed(version) }) { unkept = nil }
            } catch {
                unkept = nil
                server.logger.warning(
                    "The policy cannot be kept as one to fall back on",
                    metadata: ["error": "\(error)", "policy.revision": "\(version.revision)"]
                )
            }
        }
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

extension ListenerStatistics {
    /// How many requests were answered on routes that a policy answers.
    var answeredRequests: Int {
        requests.reduce(0) { $1.key.route == .other ? $0 : $0 + Int(clamping: $1.value.count) }
    }
}
