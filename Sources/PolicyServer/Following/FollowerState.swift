import PolicyStore
import UpdatePolicy

/// Follows the policy of a database, as a state machine without a connection and without a clock.
///
/// There is always one ``operation`` to perform. Its outcome is an event; handling it gives what to note, and the next
/// operation. After a connection is made, the machine finds out how the database announces changes. Then it reads the
/// version of the policy, loads the policy if it is another one, and waits, again and again until the connection breaks.
struct FollowerState {
    private(set) var operation = Operation.connect(after: .zero)

    private var backoff = ReconnectBackoff()
    private var answerTimeout = AdaptiveTimeout()
    private var reload = ReloadDecision()
    /// How the database announces changes.
    private(set) var mode = NotificationMode.unknown
    /// A version that is lower than the one that answers, while the database is asked whether it is a primary.
    private var lower: (version: PolicyVersion, answering: PolicyVersion?, seenAt: Timestamp)?

    /// Something that takes time, and ends with an event.
    enum Operation: Equatable {
        /// Close the connection if there is one, wait, and connect.
        case connect(after: Duration)
        case detectPooler
        case listen
        case readVersion(within: Duration)
        case detectPrimary
        /// Read and compile the policy, and put it in place.
        case load
        case wait(upTo: Duration)

        /// How long the operation may take before the follower counts as stalled: at least twice as long as its own bounds
        /// allow.
        ///
        /// Before it connects, the follower asks where the database is. That may start a private one and migrate it, and
        /// name servers that do not answer take minutes. The statements of a load have a bound each.
        var timeLimit: Duration {
            switch self {
            case .connect: .seconds(600)
            case .load: .seconds(120)
            case .detectPooler, .listen, .readVersion, .detectPrimary, .wait: .seconds(30)
            }
        }
    }

    enum Event: Equatable {
        case connected(isStandby: Bool)
        case pooler(isPresent: Bool)
        case listening
        /// The database, or what stands before it, refuses to notify.
        case listenRefused(String)
        /// The database is at this version; `answering` is the version of the policy that answers, or is about to.
        case version(PolicyVersion, answering: PolicyVersion?, after: Duration)
        /// The database is at this version, which is not taken until a time because servers died of it.
        case heldBack(PolicyVersion, until: Timestamp, after: Duration)
        case primary(Bool)
        /// The policy of this version answers now.
        case loaded(PolicyVersion)
        /// The policy of this version cannot be compiled.
        case rejected(PolicyVersion, reason: String)
        /// There was a notification, or the time to wait is over.
        case waited(isStandby: Bool)
        /// The operation failed; a connection that is not usable is replaced.
        case failed(reason: String, isConnectionUsable: Bool, isTimeout: Bool = false)
    }

    /// A change of status to record and log, at once and in order.
    enum Note: Equatable {
        case connected
        case disconnected
        /// How changes are noticed is known, or has changed.
        case following(NotificationMode)
        case notificationsRefused(String)
        /// The policy that answers is that of the database.
        case upToDate
        case heldBack(PolicyVersion, until: Timestamp)
        /// Nothing was ever edited in the database; its empty policy is taken at this time.
        case unedited(takenAt: Timestamp)
        /// Something failed; of a policy that cannot be compiled, this is the revision.
        case failure(Failure, reason: String, rejected: Int64? = nil)
    }

    /// A kind of failure, in words for the log.
    enum Failure: String {
        case connecting = "The database cannot be reached"
        case connection = "The connection to the database broke"
        case loading = "The policy cannot be loaded"
        case compiling = "The newest policy cannot be used"
    }

    /// Handles the outcome of ``operation``.
    ///
    /// - Parameters:
    ///   - now: When it came.
    ///   - generator: The jitter of the wait before the next connection.
    mutating func handle(
        _ event: Event,
        at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> [Note] {
        switch event {
        case .connected(let isStandby):
            backoff.reset()
            mode = .unknown
            return [.connected] + beginCycle(isStandby: isStandby)
        case .pooler(isPresent: true):
            return follow(.noneThroughPooler)
        case .pooler(isPresent: false):
            operation = .listen
            return []
        case .listening:
            return follow(.notifications)
        case .listenRefused(let reason):
            return [.notificationsRefused(reason)] + follow(.refused)
        case .version(let version, let answering, let duration):
            answerTimeout.answered(after: duration)
            return judge(version, answering, seenAt: now, isPrimary: nil)
        case .heldBack(let version, let end, let duration):
            answerTimeout.answered(after: duration)
            return [.heldBack(version, until: end)] + wait()
        case .primary(let isPrimary):
            guard let lower else { return wait() }
            return judge(lower.version, lower.answering, seenAt: lower.seenAt, isPrimary: isPrimary)
        case .loaded(let version):
            reload.loaded(version)
            return wait()
        case .rejected(let version, let reason):
            reload.rejected(version)
            return [.failure(.compiling, reason: reason, rejected: version.revision)] + wait()
        case .waited(let isStandby):
            return beginCycle(isStandby: isStandby)
        case .failed(let reason, let isConnectionUsable, let isTimeout):
            return fail(reason, isConnectionUsable, isTimeout, using: &generator)
        }
    }

    /// Begins with a new connection, or anew after a wait.
    ///
    /// A standby that is promoted keeps its connections, so the notification mode is decided again from time to time.
    private mutating func beginCycle(isStandby: Bool) -> [Note] {
        switch mode {
        case .notifications, .noneThroughPooler, .refused:
            break
        case .noneOnStandby where isStandby:
            break
        case .unknown where isStandby:
            return follow(.noneOnStandby)
        case .unknown, .noneOnStandby:
            operation = .detectPooler
            return []
        }
        operation = .readVersion(within: answerTimeout.limit)
        return []
    }

    private mutating func follow(_ newMode: NotificationMode) -> [Note] {
        mode = newMode
        operation = .readVersion(within: answerTimeout.limit)
        return [.following(newMode)]
    }

    private mutating func judge(
        _ version: PolicyVersion,
        _ answering: PolicyVersion?,
        seenAt: Timestamp,
        isPrimary: Bool?
    ) -> [Note] {
        lower = nil
        switch reload.verdict(on: version, inPlaceOf: answering, at: seenAt, isPrimary: isPrimary) {
        case .load:
            operation = .load
            return []
        case .mustKnowPrimary:
            lower = (version, answering, seenAt)
            operation = .detectPrimary
            return []
        case .upToDate:
            return [.upToDate] + wait()
        case .wait:
            return (reload.takesUnedited(version).map { [.unedited(takenAt: $0)] } ?? []) + wait()
        }
    }

    private mutating func wait() -> [Note] {
        operation = .wait(upTo: mode.pollInterval)
        return []
    }

    private mutating func fail(
        _ reason: String,
        _ isConnectionUsable: Bool,
        _ isTimeout: Bool,
        using generator: inout some RandomNumberGenerator
    ) -> [Note] {
        let failure: Failure
        switch operation {
        case .connect:
            failure = .connecting
        case .readVersion, .detectPrimary, .load:
            if case .readVersion = operation, isTimeout { answerTimeout.ranOut() }
            if isConnectionUsable { return [.failure(.loading, reason: reason)] + wait() }
            failure = .connection
        case .detectPooler, .listen, .wait:
            failure = .connection
        }
        operation = .connect(after: backoff.nextDelay(using: &generator))
        return [.failure(failure, reason: reason), .disconnected]
    }
}

/// How a follower notices that the policy may have changed, before it reads the version anyway.
enum NotificationMode: Sendable {
    case unknown
    case notifications
    /// The database cannot notify, because it is a hot standby.
    case noneOnStandby
    /// A pooler would deliver notifications to another process of the database.
    case noneThroughPooler
    /// The database, or what stands in front of it, refuses to notify.
    case refused

    /// How long to wait for a notification before the version is read.
    ///
    /// An edit is live within a second of its commit, also where no notification comes or one is lost: that leaves a
    /// tenth of a second to read and compile what changed where they come, and half a second where none do.
    var pollInterval: Duration {
        switch self {
        case .notifications: .milliseconds(900)
        case .unknown, .noneOnStandby, .noneThroughPooler, .refused: .milliseconds(500)
        }
    }

    var description: String {
        switch self {
        case .unknown: "not asked for yet"
        case .notifications: "notified at once"
        case .noneOnStandby: "read twice a second, since a standby cannot notify"
        case .noneThroughPooler: "read twice a second, since a pooler stands in between"
        case .refused: "read twice a second, since it refuses to notify"
        }
    }
}

/// How long to wait for the answer to a statement that takes a database no time, before the connection counts as lost.
///
/// Four times as long as the last answer took, so that a distant database is waited for and the loss of a near one is
/// noticed soon; twice as long after each answer that did not come.
struct AdaptiveTimeout {
    static let minimum: Duration = .seconds(1)
    static let maximum: Duration = .seconds(10)

    private(set) var limit = minimum

    mutating func answered(after duration: Duration) {
        limit = min(max(duration * 4, Self.minimum), Self.maximum)
    }

    mutating func ranOut() {
        limit = min(limit * 2, Self.maximum)
    }
}

/// How long to wait before the next attempt to connect: twice as long after each failure, with jitter.
///
/// The bound is low because an edit has to be live two seconds after the database is back, and a connection attempt a
/// second costs a database nothing.
struct ReconnectBackoff {
    static let initial: Duration = .milliseconds(50)
    static let maximum: Duration = .milliseconds(1_000)

    private var delay = initial

    /// The next delay, between half and the whole of the current step.
    mutating func nextDelay(using generator: inout some RandomNumberGenerator) -> Duration {
        defer { delay = min(delay * 2, Self.maximum) }
        return delay * Double.random(in: 0.5...1, using: &generator)
    }

    mutating func reset() {
        delay = Self.initial
    }
}
