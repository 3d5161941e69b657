// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import UpdatePolicy

/// The connections of one event loop, what they share, and the clock that ends those which take too long.
///
/// Time is counted in ticks of one task per event loop, which runs only while there are connections. So a request that
/// begins or ends costs a store and no timer, and a process that was stopped for a while does not wake up to find all
/// its clients overdue.
final class LoopConnections {
    /// What is counted on this event loop.
    let statistics: LoopStatistics
    /// Writes the responses of all connections.
    var writer = ResponseWriter()
    /// Room for the body of the answer that is being written.
    var answer: [UInt8] = []
    /// What the connections do together in a turn of the event loop.
    let turn: EventLoopTurn

    private let eventLoop: any EventLoop
    private let tickLength: TimeAmount
    private let phaseTicks: [Int]
    private var now = 0
    private var phaseCount = 0
    private var handlers: [PublicRequestHandler] = []
    private var isTicking = false
    /// The connections that were idle longest when they were last looked for, the longest at the end.
    private var evictionCandidates: [(handler: PublicRequestHandler, order: Int)] = []
    /// The tick at which no connection was idle; nil if there is a new one since.
    private var lastTickWithoutIdle: Int?

    /// How many connections are looked for at a time that could make room; all have to be gone through for it.
    private static let evictionBatch = 256

    /// The longest time between two ticks: how much later than its limit a connection may be ended.
    private static let longestTick = Duration.milliseconds(250)
    private static let shortestTick = Duration.milliseconds(5)

    init(
        eventLoop: any EventLoop,
        limits: ConnectionLimits,
        statistics: LoopStatistics,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.eventLoop = eventLoop
        self.statistics = statistics
        turn = EventLoopTurn(eventLoop: eventLoop, clock: clock, recorder: statistics.requests)
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
        return ConnectionDeadline(phase: phase, tick: now + phaseTicks[phase.rawValue], order: phaseCount)
    }

    /// Watches the deadline of a connection until ``remove(_:)``.
    func add(_ handler: PublicRequestHandler) {
        handler.slot = handlers.count
        handlers.append(handler)
        lastTickWithoutIdle = nil
        if !isTicking {
            isTicking = true
            scheduleTick()
        }
    }

    /// Forgets a connection.
    func remove(_ handler: PublicRequestHandler) {
        guard let slot = handler.slot else { return }
        handler.slot = nil
        let last = handlers.removeLast()
        if last !== handler {
            handlers[slot] = last
            last.slot = slot
        }
    }

    /// Ends the connection that has waited longest for a request to begin.
    ///
    /// - Parameter crowd: The addresses whose connections are ended before those of any other.
    /// - Returns: Whether there was one.
    func evictLongestIdle(first crowd: () -> Set<AddressBlock>) -> Bool {
        if evictNextCandidate() { return true }
        guard lastTickWithoutIdle != now else { return false }
        let blocks = crowd()
        let all = handlers.filter(\.isIdle)
        let crowded = all.filter { $0.block.map(blocks.contains) ?? false }
        var idle = (crowded.isEmpty ? all : crowded).map { (handler: $0, order: $0.deadline.order) }
        idle.sort { $0.order > $1.order }
        evictionCandidates = idle.suffix(Self.evictionBatch)
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
