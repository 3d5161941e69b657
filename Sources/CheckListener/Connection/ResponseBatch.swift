// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1
import UpdatePolicy

/// The responses that are written in one tick of an event loop, and sent together at its end.
///
/// A response that is sent wakes the client. Sent one by one, each before the next request is read, responses cost a
/// twelfth more of the server's time than sent together. All checks of a batch share one reading of the clock, and are
/// answered by one policy.
final class ResponseBatch {
    private let eventLoop: any EventLoop
    private let currentPolicy: CurrentPolicy
    private let clock: @Sendable () -> Timestamp
    private let recorder: RequestRecorder
    private var responder: CheckResponder
    private var output = ByteWriter()
    private var start: Timestamp?
    private var policy: CompiledPolicy?
    private var isEndScheduled = false
    private var answered: [RequestKind] = []
    private var unflushed: [ConnectionHandler] = []
    private var flushing: [ConnectionHandler] = []

    /// The most responses in a batch; a larger one would answer checks by an old clock.
    private static let maximumResponses = 64
    /// The most memory that is kept for the next batch, in bytes.
    private static let keptCapacity = 1 << 20

    /// Creates the batches of one event loop.
    ///
    /// - Parameters:
    ///   - eventLoop: The event loop.
    ///   - policy: What answers.
    ///   - responder: Writes the responses.
    ///   - recorder: Counts the requests that are answered.
    ///   - clock: The time of a check.
    init(
        eventLoop: any EventLoop,
        policy: CurrentPolicy,
        responder: consuming CheckResponder,
        recorder: RequestRecorder,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.eventLoop = eventLoop
        currentPolicy = policy
        self.responder = responder
        self.recorder = recorder
        self.clock = clock
    }

    // MARK: Writing

    /// Where the next response begins.
    var position: Int { output.count }

    /// Calls `body` with the bytes of responses; nothing may be written meanwhile.
    func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        output.withBytes(range, body)
    }

    /// Writes `100 Continue`.
    func writeContinue() {
        output.append("HTTP/1.1 100 Continue\r\n\r\n")
    }

    /// Answers a request that the parser read.
    ///
    /// - Returns: What is to be made first; then nothing is written.
    func answer(
        _ request: borrowing CheckRequest,
        connection: ResponseWriter.ConnectionHeader
    ) -> DocumentQuestion? {
        let now = time
        let outcome = responder.respond(
            to: request,
            connection: connection,
            policy: policy,
            now: now,
            output: &output
        )
        switch outcome {
        case .written(let status): count(request.kind, request.framing.method, status)
        case .awaits(let question): return question
        }
        return nil
    }

    /// Answers a request with what was made for it.
    func answer(_ awaited: AwaitedDocument, with answer: MadeAnswer) {
        let now = time
        let request = awaited.request
        let status = responder.respond(
            to: request,
            with: answer,
            awaited.connection,
            awaited.question.policy?.revision,
            now,
            &output
        )
        let duration = max(0, now.microsecondsSince1970 &- awaited.start.microsecondsSince1970)
        recorder.record(
            [RequestKind(route: request.kind, method: request.framing.method, status: UInt16(status.code))],
            duration: UInt64(duration) &* 1_000
        )
    }

    /// Keeps a document that was made for those who ask next.
    func keep(_ answer: MadeAnswer, to question: DocumentQuestion, madeAt time: Timestamp) {
        responder.keep(answer, to: question, madeAt: time)
    }

    /// Answers a plain request.
    func answer(
        _ request: ExpressRequest,
        in bytes: UnsafeRawBufferPointer,
        connection: ResponseWriter.ConnectionHeader
    ) {
        let now = time
        let status = responder.respond(
            to: request,
            in: bytes,
            connection: connection,
            policy: policy,
            now: now,
            output: &output
        )
        count(request.kind, request.method, status)
    }

    /// Refuses a request.
    func refuse(_ refusal: ConnectionState.RefusedRequest) {
        let now = time
        let status = responder.respond(
            with: refusal.fault,
            connection: refusal.connection,
            omitsBody: refusal.omitsBody,
            now: now,
            output: &output
        )
        count(refusal.route, refusal.method, status)
    }

    /// The time of what is answered in this batch.
    var time: Timestamp {
        if let start { return start }
        let now = clock()
        start = now
        policy = currentPolicy.value
        scheduleEnd()
        return now
    }

    /// Counts a request that was answered, at the latest before its response is sent.
    private func count(_ route: RequestKind.Route, _ method: RequestKind.Method, _ status: HTTPResponseStatus) {
        answered.append(RequestKind(route: route, method: method, status: UInt16(truncatingIfNeeded: status.code)))
    }

    // MARK: Sending

    /// Lets a connection send what it wrote at the end of the batch.
    func flushAtEnd(_ connection: ConnectionHandler) {
        unflushed.append(connection)
        scheduleEnd()
    }

    /// Ends the batch if it has as many responses, or as many bytes of them, as there may be.
    func endIfFull() {
        if answered.count >= Self.maximumResponses || output.count >= Self.keptCapacity { end() }
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
        policy = nil
        // Sending can make a connection answer what it held back, and so begin another batch.
        guard flushing.isEmpty else { return scheduleEnd() }
        swap(&unflushed, &flushing)
        for connection in flushing { connection.flush() }
        flushing.removeAll(keepingCapacity: true)
        if unflushed.isEmpty { output.removeAll(keptCapacity: Self.keptCapacity) }
    }
}
