/// How a follower notices that the policy may have changed, before it reads the version anyway; in words for the log.
enum NotificationMode: String, Sendable {
    case unknown = "not asked for yet"
    case notifications = "notified at once"
    case noneOnStandby = "read twice a second, since a standby cannot notify"
    /// A pooler would deliver notifications to another process of the database.
    case noneThroughPooler = "read twice a second, since a pooler stands in between"
    case refused = "read twice a second, since it refuses to notify"

    /// How long to wait for a notification before the version is read.
    ///
    /// An edit is live within a second of its commit, also where no notification comes or one is lost: that leaves a
    /// tenth of a second to read and compile what changed where they come, and half a second where none do.
    var pollInterval: Duration { self == .notifications ? .milliseconds(900) : .milliseconds(500) }
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
