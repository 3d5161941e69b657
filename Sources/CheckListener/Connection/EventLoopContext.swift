import NIOCore
import UpdatePolicy

/// What the event loops of a listener answer from.
struct AnswerSources: Sendable {
    /// The policy that answers.
    let policy: CurrentPolicy
    /// The documents of other update clients.
    let documents: FeedDocuments
    /// The signatures of lockouts; nil: they are not signed.
    var signatures: LockoutSignatures?
    /// The other origins whose pages may read answers; nil: none.
    var origins: AllowedOrigins?
    /// Records the releases that pipelines send; nil: there is nothing at their path.
    var releases: SentRelease.Recorder?
    /// The time of a check.
    let clock: @Sendable () -> Timestamp
}

/// What the connections of one event loop share; it is used on that event loop alone.
final class EventLoopContext {
    /// What they answer from.
    let sources: AnswerSources
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
    ///   - recorder: Counts the checks; nil: they are not counted.
    ///   - unreadBytes: How many bytes of unread responses the connections may have together.
    init(
        eventLoop: any EventLoop,
        sources: AnswerSources,
        recorder: CheckRecorder?,
        limits: ConnectionLimits,
        statistics: EventLoopStatistics,
        unreadBytes: Int
    ) {
        (self.eventLoop, self.sources, self.limits, self.statistics) = (eventLoop, sources, limits, statistics)
        timeouts = ConnectionTimeouts(eventLoop: eventLoop, limits: limits)
        unread = UnreadResponses(maximum: unreadBytes, connections: timeouts)
        batch = ResponseBatch(
            eventLoop: eventLoop, sources: sources, recorder: recorder, statistics: statistics,
            maximumRunBytes: limits.bufferedBytes
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
