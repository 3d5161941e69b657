import Dispatch
import NIOCore
import NIOEmbedded
import TestPolicies
import Testing

@testable import CheckListener

@Suite("Pending evictions")
struct ConnectionAdmissionTests {
    @Test("The kernel's next 16 connections are not accepted while more than 16 evictions are pending, nor a 33rd")
    func isEvicting() async throws {
        let eventLoop = NIOAsyncTestingEventLoop()
        var limits = ConnectionLimits()
        limits.connections = 1
        let statistics = ListenerStatistics()
        let loops = EventLoopTable(eventLoop) { [limits] in EventLoopContext(testing: $0, limits: limits) }
        let admission = ConnectionAdmission(
            limits: limits, proxies: TrustedProxies(), statistics: statistics, loops: loops, eventLoops: [eventLoop]
        )
        var connections: [NIOAsyncTestingChannel] = []
        func admits() -> Bool {
            connections.append(NIOAsyncTestingChannel(loop: eventLoop))
            return admission.admits(connections[connections.count - 1])
        }

        // The event loop is busy, so that evictions are pending meanwhile.
        let isFree = DispatchSemaphore(value: 0)
        eventLoop.execute { isFree.wait() }
        #expect(admits(), "there is a place")
        for pending in 1...32 {
            #expect(admits())
            #expect(admission.isEvicting == (pending > 16), "\(pending) evictions are pending")
        }
        #expect(!admits(), "32 evictions are pending")
        isFree.signal()
        await eventLoop.run()
        #expect(!admission.isEvicting)
        #expect(statistics.refusals(.connections) == 33, "no connection was idle, so none made room")
        await eventLoop.shutdownGracefully()
    }
}
