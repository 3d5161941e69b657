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
    /// Fulfilled by the end of the last one; nil before a shutdown.
    private var drained: EventLoopPromise<Void>?
    private let eventLoop: any EventLoop
    /// The responses that are made and sent together.
    let batch: ResponseBatch
    /// The responses that wait for their clients to read.
    let unread: UnreadResponses

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
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.limits = limits
        self.statistics = statistics
        self.eventLoop = eventLoop
        timeouts = ConnectionTimeouts(eventLoop: eventLoop, limits: limits)
        unread = UnreadResponses(maximum: unreadBytes, connections: timeouts)
        batch = ResponseBatch(
            Responder(recorder: recorder, signatures: signatures, documents: documents), eventLoop: eventLoop,
            policy: policy, statistics: statistics, maximumRunBytes: limits.bufferedBytes, clock: clock
        )
    }

    /// Ends all connections after the requests in progress.
    func drain() -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        drained = promise
        timeouts.beginShutdown()
        if openConnections == 0 { promise.succeed() }
        return promise.futureResult
    }

    func connectionEnded() {
        openConnections -= 1
        if openConnections == 0 { drained?.succeed() }
    }
}

/// One value for each event loop of a group, used on that event loop alone.
struct EventLoopTable<Value>: Sendable {
    private let values: [ObjectIdentifier: (eventLoop: any EventLoop, value: NIOLoopBoundBox<Value>)]

    /// Makes the values.
    init(_ group: any EventLoopGroup, make: @escaping @Sendable (any EventLoop) -> Value) {
        values = Dictionary(
            uniqueKeysWithValues: group.makeIterator().map { eventLoop in
                let value = NIOLoopBoundBox.makeBoxSendingValue(make(eventLoop), eventLoop: eventLoop)
                return (ObjectIdentifier(eventLoop), (eventLoop, value))
            }
        )
    }

    /// The value of the event loop that this is called on.
    subscript(_ eventLoop: any EventLoop) -> Value {
        guard let value = values[ObjectIdentifier(eventLoop)]?.value else {
            preconditionFailure("connections run on the event loops of the listener's group")
        }
        return value.value
    }

    /// Asks each value on its event loop.
    func flatSubmit(_ body: @escaping @Sendable (Value) -> EventLoopFuture<Void>) -> [EventLoopFuture<Void>] {
        values.values.map { eventLoop, value in eventLoop.flatSubmit { body(value.value) } }
    }
}
