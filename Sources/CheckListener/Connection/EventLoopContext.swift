import NIOCore
import UpdatePolicy

/// What the connections of one event loop share; it is used on that event loop alone.
final class EventLoopContext {
    /// What a connection may take.
    let limits: ConnectionLimits
    /// What is counted on this event loop.
    let statistics: EventLoopStatistics
    /// Ends the connections that wait for too long.
    let timeouts: ConnectionTimeouts
    /// How many connections there are, those that are about to end included.
    var openConnections = 0
    /// The responses that are made and sent together.
    let batch: ResponseBatch
    /// The responses that wait for their clients to read.
    let unread: UnreadResponses
    /// Whether releases are recorded; else there is nothing at their path.
    let takesReleases: Bool

    /// Creates the context of an event loop.
    ///
    /// - Parameters:
    ///   - eventLoop: The event loop.
    ///   - policy: What answers.
    ///   - recorder: Counts the checks; nil: they are not counted.
    ///   - limits: What a connection may take.
    ///   - statistics: What is counted on the event loop.
    ///   - documents: The documents of other update clients.
    ///   - unreadBytes: How many bytes of unread responses the connections may have together.
    ///   - signatures: Those of lockouts; nil: they are not signed.
    ///   - releases: Records releases; nil: nothing does.
    ///   - clock: The time of a check.
    init(
        eventLoop: any EventLoop,
        policy: CurrentPolicy,
        recorder: CheckRecorder?,
        limits: ConnectionLimits,
        statistics: EventLoopStatistics,
        documents: FeedDocuments,
        unreadBytes: Int,
        signatures: LockoutSignatures? = nil,
        releases: SentRelease.Recorder? = nil,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.limits = limits
        self.statistics = statistics
        takesReleases = releases != nil
        timeouts = ConnectionTimeouts(eventLoop: eventLoop, limits: limits)
        unread = UnreadResponses(maximum: unreadBytes, connections: timeouts)
        batch = ResponseBatch(
            Responder(recorder: recorder, signatures: signatures, documents: documents, releases: releases),
            eventLoop: eventLoop, policy: policy, statistics: statistics, maximumRunBytes: limits.bufferedBytes,
            clock: clock
        )
    }
}

/// One value for each event loop of a group, used on that event loop alone.
struct EventLoopTable<Value>: Sendable {
    private let values: [ObjectIdentifier: NIOLoopBoundBox<Value>]

    /// Makes the values.
    init(_ group: any EventLoopGroup, make: @escaping @Sendable (any EventLoop) -> Value) {
        var values: [ObjectIdentifier: NIOLoopBoundBox<Value>] = [:]
        for eventLoop in group.makeIterator() {
            values[ObjectIdentifier(eventLoop)] = .makeBoxSendingValue(make(eventLoop), eventLoop: eventLoop)
        }
        self.values = values
    }

    /// The value of the event loop that this is called on.
    subscript(_ eventLoop: any EventLoop) -> Value {
        guard let value = values[ObjectIdentifier(eventLoop)] else {
            preconditionFailure("connections run on the event loops of the listener's group")
        }
        return value.value
    }
}
