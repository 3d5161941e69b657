// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import UpdatePolicy

/// One turn of an event loop: what arrived on its connections is answered, then all responses are sent.
///
/// A response that is sent wakes whoever waits for it. Sent one by one, each before the next request is read, they cost a
/// twelfth more of the server's time than sent together. All checks of a turn share one reading of the clock.
final class EventLoopTurn {
    private let eventLoop: any EventLoop
    private let clock: @Sendable () -> Timestamp
    private let recorder: RequestRecorder
    private var start: Timestamp?
    private var isEndScheduled = false
    private var answered: [RequestKind] = []
    private var unflushed: [PublicRequestHandler] = []
    private var flushing: [PublicRequestHandler] = []

    /// How many responses wait for each other; then they are sent, so that no check is answered by an old clock.
    private static let maximumResponses = 64

    /// Creates the turns of one event loop.
    ///
    /// - Parameters:
    ///   - eventLoop: The event loop.
    ///   - clock: The time of a check.
    ///   - recorder: Counts the requests that are answered.
    init(eventLoop: any EventLoop, clock: @escaping @Sendable () -> Timestamp, recorder: RequestRecorder) {
        self.eventLoop = eventLoop
        self.clock = clock
        self.recorder = recorder
    }

    /// The time of what is answered in this turn.
    var time: Timestamp {
        if let start { return start }
        let now = clock()
        start = now
        scheduleEnd()
        return now
    }

    /// Counts a request that was answered, at the latest before its response is sent.
    func count(_ kind: RequestKind) {
        answered.append(kind)
    }

    /// Lets a connection send what it wrote at the end of the turn.
    func flushAtEnd(_ connection: PublicRequestHandler) {
        unflushed.append(connection)
        if answered.count >= Self.maximumResponses {
            end()
        } else {
            scheduleEnd()
        }
    }

    /// Takes the requests that were answered until now into the metrics.
    func recordAnswered() {
        guard let start, !answered.isEmpty else { return }
        let microseconds = max(0, clock().microsecondsSince1970 &- start.microsecondsSince1970)
        recorder.record(answered, duration: UInt64(microseconds) &* 1_000)
        answered.removeAll(keepingCapacity: true)
    }

    private func scheduleEnd() {
        guard !isEndScheduled else { return }
        isEndScheduled = true
        eventLoop.assumeIsolated().execute { [self] in
            isEndScheduled = false
            end()
        }
    }

    private func end() {
        recordAnswered()
        start = nil
        // Sending can make a connection answer what it held back, and so begin another turn.
        guard flushing.isEmpty else { return scheduleEnd() }
        swap(&unflushed, &flushing)
        for connection in flushing { connection.flush() }
        flushing.removeAll(keepingCapacity: true)
    }
}
