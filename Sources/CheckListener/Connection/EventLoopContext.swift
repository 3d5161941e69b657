// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import UpdatePolicy

/// What the connections of one event loop share; it is used on that event loop alone.
final class EventLoopContext {
    /// What is counted on this event loop.
    let statistics: EventLoopStatistics
    /// Ends the connections that wait for too long.
    let timeouts: ConnectionTimeouts
    /// The responses that are sent together.
    let batch: ResponseBatch
    /// Writes the responses of all connections.
    var writer = ResponseWriter()
    /// A buffer for the body of the answer that is being written.
    var body: [UInt8] = []

    /// Creates the context of an event loop.
    ///
    /// - Parameters:
    ///   - eventLoop: The event loop.
    ///   - limits: How long a connection may wait.
    ///   - statistics: What is counted on the event loop.
    ///   - clock: The time of a check.
    init(
        eventLoop: any EventLoop,
        limits: ConnectionLimits,
        statistics: EventLoopStatistics,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.statistics = statistics
        timeouts = ConnectionTimeouts(eventLoop: eventLoop, limits: limits)
        batch = ResponseBatch(eventLoop: eventLoop, clock: clock, recorder: statistics.requests)
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
