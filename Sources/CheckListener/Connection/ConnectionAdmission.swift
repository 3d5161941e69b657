import NIOCore
import Synchronization

/// Lets a connection in or turns it away, as it is accepted and before anything is read from it.
///
/// When there are as many as there may be, the one that has waited longest for a request makes room, so that nobody shuts
/// others out with connections that ask for nothing. Addresses with more than their share of connections make room first.
final class ConnectionAdmission: Sendable {
    private let limits: ConnectionLimits
    private let proxies: TrustedProxies
    private let statistics: ListenerStatistics
    private let loops: EventLoopTable<EventLoopContext>
    private let eventLoops: [any EventLoop]
    private let pendingEvictions = Atomic(0)
    private let connectionsByAddress = Mutex<[AddressBlock: Int]>([:])

    /// How many connections may wait for room at a time. The limit can be exceeded by this many for a moment.
    private static let maximumPendingEvictions = 32

    /// Creates the admission of one listener.
    ///
    /// - Parameters:
    ///   - limits: How many connections there may be.
    ///   - proxies: Who is not held to the limit per address.
    ///   - statistics: What counts connections and refusals.
    ///   - loops: The connections of each event loop.
    ///   - eventLoops: The event loops.
    init(
        limits: ConnectionLimits,
        proxies: TrustedProxies,
        statistics: ListenerStatistics,
        loops: EventLoopTable<EventLoopContext>,
        eventLoops: [any EventLoop]
    ) {
        self.limits = limits
        self.proxies = proxies
        self.statistics = statistics
        self.loops = loops
        self.eventLoops = eventLoops
    }

    /// Whether there are as many connections as there may be.
    var isFull: Bool { statistics.open.load(ordering: .relaxed) >= limits.connections }

    /// Whether so many connections are about to be ended that the next ones might find none of them gone.
    ///
    /// The kernel hands over up to 16 at a time.
    var isEvicting: Bool { pendingEvictions.load(ordering: .relaxed) > Self.maximumPendingEvictions - 16 }

    /// How many connections may be accepted in the time that each has for its first request.
    ///
    /// The longest idle one is ended first, on an event loop that has its share of them. So a new one has that time,
    /// unless its address is crowded.
    var maximumInPeriod: Int { max(1, limits.connections / 4) }

    /// Whether a new connection may stay; if so it is counted until it is closed.
    func admits(_ connection: any Channel) -> Bool {
        statistics.accepted.wrappingAdd(1, ordering: .relaxed)
        let open = statistics.open.wrappingAdd(1, ordering: .relaxed).newValue
        let needsRoom = open > limits.connections
        guard !needsRoom || pendingEvictions.load(ordering: .relaxed) < Self.maximumPendingEvictions else {
            return turnAway(.connections)
        }
        let block = limitedBlock(of: connection)
        if let block, !enter(block) {
            return turnAway(.connectionsPerAddress)
        }
        connection.closeFuture.whenComplete { [self] _ in
            statistics.open.wrappingSubtract(1, ordering: .relaxed)
            if let block { leave(block) }
        }
        if needsRoom {
            pendingEvictions.wrappingAdd(1, ordering: .relaxed)
            // Its own event loop first, so that each keeps as many as the others.
            makeRoom(for: connection, on: [connection.eventLoop] + eventLoops.filter { $0 !== connection.eventLoop })
        }
        return true
    }

    /// Ends the longest idle connection of the first event loop that has one; where none has, the new one.
    private func makeRoom(for connection: any Channel, on candidates: [any EventLoop]) {
        guard let eventLoop = candidates.first else {
            pendingEvictions.wrappingSubtract(1, ordering: .relaxed)
            statistics.admission.refusals.increment(.connections)
            connection.close(promise: nil)
            return
        }
        let attempt: @Sendable () -> Void = { [self] in
            if loops[eventLoop].timeouts.evictLongestIdle(first: blocksAboveShare) {
                pendingEvictions.wrappingSubtract(1, ordering: .relaxed)
            } else {
                makeRoom(for: connection, on: Array(candidates.dropFirst()))
            }
        }
        // Before the new connection is among those of its event loop.
        if eventLoop.inEventLoop { attempt() } else { eventLoop.execute(attempt) }
    }

    private func turnAway(_ reason: RefusalReason) -> Bool {
        statistics.open.wrappingSubtract(1, ordering: .relaxed)
        statistics.admission.refusals.increment(reason)
        return false
    }

    /// The addresses that have more connections than each would have if all had as many.
    private func blocksAboveShare() -> Set<AddressBlock> {
        connectionsByAddress.withLock { connections in
            let share = limits.connections / max(1, connections.count)
            return Set(connections.lazy.filter { $0.value > share }.map(\.key))
        }
    }

    /// The address block of a connection; nil when its address is not limited.
    func limitedBlock(of connection: any Channel) -> AddressBlock? {
        guard limits.maximumPerAddress != nil, let peer = IPAddress(connection.remoteAddress),
            !proxies.contains(peer)
        else { return nil }
        return AddressBlock(peer)
    }

    private func enter(_ block: AddressBlock) -> Bool {
        connectionsByAddress.withLock { connections in
            let count = connections[block, default: 0]
            guard count < limits.maximumPerAddress ?? .max else { return false }
            connections[block] = count + 1
            return true
        }
    }

    private func leave(_ block: AddressBlock) {
        connectionsByAddress.withLock { connections in
            let count = connections[block, default: 0] - 1
            connections[block] = count > 0 ? count : nil
        }
    }
}

/// Stands in the pipeline of the listening socket, before the handlers that start a connection.
///
/// While there are as many connections as there may be, each new one ends an idle one. Clients that open them faster than
/// requests are read could end each other's unread, and those of others. So the listener accepts only a part of its
/// connections anew in a while; the rest wait in the kernel, in the order in which they came.
final class AdmissionHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    /// How long a connection has at least to send its first request before another one may take its place.
    private static let minimumTime = TimeAmount.milliseconds(25)
    /// How long to wait for those that other event loops are about to end.
    private static let evictionTime = TimeAmount.milliseconds(1)

    private let admission: ConnectionAdmission
    private var periodEnd = NIODeadline.distantPast
    private var acceptedInPeriod = 0

    init(_ admission: ConnectionAdmission) {
        self.admission = admission
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let connection = unwrapInboundIn(data)
        acceptedInPeriod += 1
        if admission.admits(connection) {
            context.fireChannelRead(data)
        } else {
            connection.close(promise: nil)
        }
    }

    func read(context: ChannelHandlerContext) {
        if let delay = delay(now: context.eventLoop.now) {
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: delay) {
                let (handler, context) = bound.value
                handler.read(context: context)
            }
        } else {
            context.read()
        }
    }

    /// How long the next connections must wait until they are accepted; nil if they need not.
    private func delay(now: NIODeadline) -> TimeAmount? {
        if now >= periodEnd {
            periodEnd = now + Self.minimumTime
            acceptedInPeriod = 0
        }
        guard admission.isFull else { return nil }
        if admission.isEvicting { return Self.evictionTime }
        return acceptedInPeriod < admission.maximumInPeriod ? nil : periodEnd - now
    }
}
