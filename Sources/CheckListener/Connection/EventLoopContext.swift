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
    /// Those that are open.
    let connections: OpenConnections
    /// The responses that are made and sent together.
    let batch: ResponseBatch

    /// - Parameters:
    ///   - recorder: Counts the checks; nil: they are not counted.
    ///   - limits: Those of one event loop.
    init(
        eventLoop: any EventLoop,
        sources: AnswerSources,
        recorder: CheckRecorder?,
        limits: ConnectionLimits,
        statistics: EventLoopStatistics
    ) {
        (self.sources, self.limits, self.statistics) = (sources, limits, statistics)
        connections = OpenConnections(eventLoop: eventLoop, limits: limits)
        batch = ResponseBatch(eventLoop: eventLoop, sources: sources, recorder: recorder, statistics: statistics)
    }
}
