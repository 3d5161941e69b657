import NIOCore

/// What a connection waits for; each phase has a limit of its own.
enum ConnectionPhase: Int, CaseIterable {
    /// The end of a head that has begun, or the first head of the connection.
    case head
    /// The end of a body.
    case body
    /// The next request.
    case idle
    /// An answer that is made off the event loop.
    case document
    /// A release that is recorded.
    case release
    /// For the client to read its responses.
    case unread
    /// For the client to close a connection that the server has ended.
    case lingering
}

/// Until when a connection may stay in its phase.
struct ConnectionDeadline {
    /// The tick of the event loop at which it has taken too long.
    let tick: Int
    /// Increases with each phase that a connection of the event loop enters: the lowest has waited longest.
    let order: Int
}

/// The connections of one event loop: closes those that exceed a timeout, idle ones when a new one needs room, and those that
/// keep most responses unread when there is more of them than is kept.
///
/// Time is counted in ticks of one task per event loop, which runs only while there are connections. A request that begins
/// or ends costs a store and no timer. A process that was stopped for a while does not find all its clients overdue.
final class OpenConnections {
    private let eventLoop: any EventLoop
    private let tickLength: TimeAmount
    private let phaseTicks: [Int]
    private let maximumUnreadBytes: Int
    private var unreadBytes = 0
    /// How many there are, those that are about to end included.
    private(set) var count = 0
    /// Fulfilled by the end of the last one; nil before a shutdown.
    private var drained: EventLoopPromise<Void>?
    private var now = 0
    private var phaseCount = 0
    private var handlers: [ConnectionHandler] = []
    private var isTicking = false
    /// The longest idle connections of the last search, the longest at the end.
    private var evictionCandidates: [(handler: ConnectionHandler, order: Int)] = []
    /// The tick at which a search found no idle connection; nil when a connection has opened since.
    private var lastTickWithoutIdle: Int?

    /// How many idle connections a search keeps; it goes through all connections.
    private static let evictionBatch = 256

    /// The longest time between two ticks: a connection ends at most this much after its limit.
    private static let longestTick = Duration.milliseconds(250)
    private static let shortestTick = Duration.milliseconds(5)

    init(eventLoop: any EventLoop, limits: ConnectionLimits) {
        (self.eventLoop, maximumUnreadBytes) = (eventLoop, limits.unreadBytes)
        let timeouts = ConnectionPhase.allCases.map { limits.timeout(of: $0) }
        let shortest = timeouts.min() ?? Self.longestTick
        let tick = max(Self.shortestTick, min(Self.longestTick, shortest / 8))
        tickLength = TimeAmount(tick)
        // One more than fits, because the tick under way has begun already.
        phaseTicks = timeouts.map { Int(($0 / tick).rounded(.up)) + 1 }
    }

    /// The deadline of a connection that enters a phase now.
    func deadline(for phase: ConnectionPhase) -> ConnectionDeadline {
        phaseCount += 1
        return ConnectionDeadline(tick: now + phaseTicks[phase.rawValue], order: phaseCount)
    }

    /// Watches the deadline of a connection until ``remove(_:)``.
    func add(_ handler: ConnectionHandler) {
        handler.slot = handlers.count
        handlers.append(handler)
        lastTickWithoutIdle = nil
        if !isTicking {
            isTicking = true
            scheduleTick()
        }
    }

    /// Forgets a connection.
    func remove(_ handler: ConnectionHandler) {
        guard let slot = handler.slot else { return }
        handler.slot = nil
        let last = handlers.removeLast()
        if last !== handler {
            handlers[slot] = last
            last.slot = slot
        }
    }

    /// A connection is let in.
    func begin() { count += 1 }

    /// A connection that was let in is closed.
    func end() {
        count -= 1
        if count == 0 { drained?.succeed() }
    }

    /// Ends all connections after the requests in progress.
    func drain() -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        drained = promise
        for handler in handlers { handler.beginShutdown() }
        if count == 0 { promise.succeed() }
        return promise.futureResult
    }

    /// Some connection keeps so many bytes of responses more until its client reads, or, below zero, less.
    ///
    /// Beyond the maximum the connections that keep most are closed, until an eighth of it is free: so not each of many
    /// responses looks at all connections.
    func addUnread(_ byteCount: Int) {
        unreadBytes += byteCount
        guard byteCount > 0, unreadBytes > maximumUnreadBytes else { return }
        let keeping = handlers.filter { $0.output.unreadBytes > 0 }
            .sorted { $0.output.unreadBytes > $1.output.unreadBytes }
        for handler in keeping where unreadBytes > maximumUnreadBytes / 8 * 7 { handler.abandon() }
    }

    /// Ends the connection that has waited longest for a request to begin.
    ///
    /// - Returns: Whether there was one.
    func evictLongestIdle() -> Bool {
        if evictNextCandidate() { return true }
        guard lastTickWithoutIdle != now else { return false }
        let idle = handlers.filter(\.isIdle).map { (handler: $0, order: $0.deadline.order) }
        evictionCandidates = idle.sorted { $0.order > $1.order }.suffix(Self.evictionBatch)
        if evictNextCandidate() { return true }
        lastTickWithoutIdle = now
        return false
    }

    private func evictNextCandidate() -> Bool {
        while let (handler, order) = evictionCandidates.popLast() {
            // Another order: it has asked since.
            if handler.slot != nil, handler.isIdle, handler.deadline.order == order {
                handler.evict()
                return true
            }
        }
        return false
    }

    private func scheduleTick() {
        eventLoop.assumeIsolated().scheduleTask(in: tickLength) { [self] in tick() }
    }

    private func tick() {
        now += 1
        for handler in handlers.filter({ $0.deadline.tick <= now }) {
            handler.deadlineExpired()
        }
        if handlers.isEmpty {
            isTicking = false
        } else {
            scheduleTick()
        }
    }
}
