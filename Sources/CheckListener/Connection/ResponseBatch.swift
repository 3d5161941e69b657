// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import UpdatePolicy

/// The responses that are written in one tick of an event loop, and sent together at its end.
///
/// A response that is sent wakes the client. Sent one by one, each before the next request is read, responses cost a
/// twelfth more of the server's time than sent together. All checks of a batch share one reading of the clock.
final class ResponseBatch {
    private let eventLoop: any EventLoop
    private let clock: @Sendable () -> Timestamp
    private let recorder: RequestRecorder
    private var start: Timestamp?
    private var isEndScheduled = false
    private var answered: [RequestKind] = []
    private var unflushed: [ConnectionHandler] = []
    private var flushing: [ConnectionHandler] = []

    /// The most responses in a batch; a larger one would answer checks by an old clock.
    private static let maximumResponses = 64

    /// Creates the batches of one event loop.
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

    /// The time of what is answered in this batch.
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

    /// Lets a connection send what it wrote at the end of the batch.
    func flushAtEnd(_ connection: ConnectionHandler) {
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
        // Sending can make a connection answer what it held back, and so begin another batch.
        guard flushing.isEmpty else { return scheduleEnd() }
        swap(&unflushed, &flushing)
        for connection in flushing { connection.flush() }
        flushing.removeAll(keepingCapacity: true)
    }
}
