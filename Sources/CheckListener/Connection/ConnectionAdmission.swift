import NIOCore
import Synchronization

/// Lets a connection in or turns it away, on its event loop and before anything is read from it.
///
/// Each event loop has its share of the places, as swift-nio deals connections out in turn. When they are taken, the connection
/// that has waited longest for a request makes room, so that nobody shuts others out with connections that ask for nothing.
final class ConnectionAdmission: Sendable {
    private let limits: ConnectionLimits
    /// Who is not held to the limit per address.
    private let proxies: TrustedProxies
    private let statistics: ListenerStatistics
    /// How many connections an event loop may have.
    private let share: Int
    private let connectionsByAddress = Mutex<[AddressBlock: Int]>([:])

    init(limits: ConnectionLimits, proxies: TrustedProxies, statistics: ListenerStatistics, eventLoopCount: Int) {
        self.limits = limits
        self.proxies = proxies
        self.statistics = statistics
        share = (limits.connections + eventLoopCount - 1) / eventLoopCount
    }

    /// Whether there are as many connections as there may be.
    var isFull: Bool { statistics.open.load(ordering: .relaxed) >= limits.connections }

    /// How many connections may be accepted in the time that each has for its first request.
    ///
    /// The longest idle one is ended first. So a new one has that time, unless its address is crowded.
    var maximumInPeriod: Int { max(1, limits.connections / 4) }

    /// The place of a new connection of an event loop, which it has to leave; nil where it may not stay.
    func place(for connection: any Channel, on loop: EventLoopContext) -> ConnectionPlace? {
        statistics.accepted.wrappingAdd(1, ordering: .relaxed)
        let block = limitedBlock(of: connection)
        if let block, !enter(block) {
            statistics.admission.count(.connectionsPerAddress)
            return nil
        }
        if loop.connections.count >= share, !loop.connections.evictLongestIdle() {
            if let block { leave(block) }
            statistics.admission.count(.connections)
            return nil
        }
        loop.connections.begin()
        statistics.open.wrappingAdd(1, ordering: .relaxed)
        return ConnectionPlace(admission: self, block: block)
    }

    /// The connection that had a place is closed.
    fileprivate func leave(_ place: ConnectionPlace, on loop: EventLoopContext) {
        statistics.open.wrappingSubtract(1, ordering: .relaxed)
        if let block = place.block { leave(block) }
        loop.connections.end()
    }

    /// The address block of a connection; nil when its address is not limited.
    private func limitedBlock(of connection: any Channel) -> AddressBlock? {
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

/// The place of one connection.
struct ConnectionPlace {
    fileprivate let admission: ConnectionAdmission
    /// The addresses that it counts for; nil when its address is not limited.
    fileprivate let block: AddressBlock?

    func leave(on loop: EventLoopContext) { admission.leave(self, on: loop) }
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

    private let admission: ConnectionAdmission
    private var periodEnd = NIODeadline.distantPast
    private var acceptedInPeriod = 0

    init(_ admission: ConnectionAdmission) {
        self.admission = admission
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        acceptedInPeriod += 1
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        if now >= periodEnd {
            periodEnd = now + Self.minimumTime
            acceptedInPeriod = 0
        }
        guard admission.isFull, acceptedInPeriod >= admission.maximumInPeriod else { return context.read() }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(deadline: periodEnd) {
            let (handler, context) = bound.value
            handler.read(context: context)
        }
    }
}
