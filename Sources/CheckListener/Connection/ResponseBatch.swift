import NIOCore
import UpdatePolicy

/// The responses that are made and written in one tick of an event loop, and sent together at its end.
///
/// A response that is sent wakes the client. Sent one by one, each before the next request is read, responses cost a
/// twelfth more of the server's time than sent together. All checks of a batch share one reading of the clock, and are
/// answered by one policy.
final class ResponseBatch {
    /// A run of bytes that one connection has written.
    private struct Run {
        let output: ConnectionOutput
        /// Empty once it was sent.
        var range: Range<Int>
    }

    private let eventLoop: any EventLoop
    private let sources: AnswerSources
    private let statistics: EventLoopStatistics
    private var responder: Responder
    private var writer: ResponseWriter
    private var bytes = ByteWriter()
    private var runs: [Run] = []
    private var isSending = false
    private var isEndScheduled = false
    private var start: Timestamp?
    private var startPolicy: CompiledPolicy?
    private var answeredChecks = 0
    private var answeredOthers: [RequestKind] = []

    /// The most responses in a batch; a larger one would answer checks by an old clock.
    private static let maximumResponses = 64
    /// The most memory that is kept for the next batch, in bytes.
    private static let keptCapacity = 1 << 20

    /// - Parameter recorder: Counts the checks; nil: they are not counted.
    init(
        eventLoop: any EventLoop,
        sources: AnswerSources,
        recorder: CheckRecorder?,
        statistics: EventLoopStatistics
    ) {
        (self.eventLoop, self.sources, self.statistics) = (eventLoop, sources, statistics)
        responder = Responder(sources, recorder)
        writer = ResponseWriter(origins: sources.origins)
    }

    // MARK: Writing

    /// The time of what is answered in this batch.
    var time: Timestamp {
        if let start { return start }
        return begin()
    }

    @inline(never)
    private func begin() -> Timestamp {
        let now = sources.clock()
        start = now
        startPolicy = sources.policy.value
        scheduleEnd()
        return now
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - bytes: Those that begin with it.
    ///   - connection: What the response says about the connection.
    ///   - output: What sends it.
    /// - Returns: What the answer waits for; nil when it is written.
    func answer(
        _ request: borrowing Request,
        in bytes: UnsafeRawBufferPointer,
        _ connection: ConnectionHeader,
        for output: ConnectionOutput
    ) -> LaterAnswer? {
        let now = time
        switch responder.respond(to: request, in: bytes, by: startPolicy, at: now) {
        case .now(let response):
            write(response, connection, to: request.label, for: output)
            return nil
        case .later(let answer): return answer
        }
    }

    /// Writes a response, and counts the request that it answers.
    ///
    /// - Parameters:
    ///   - connection: What the response says about the connection.
    ///   - request: What is counted.
    ///   - arrival: When the request arrived, where that was in an earlier batch.
    ///   - output: What sends it.
    @inline(__always)
    func write(
        _ response: Response,
        _ connection: ConnectionHeader,
        to request: RequestLabel,
        arrivedAt arrival: Timestamp? = nil,
        for output: ConnectionOutput
    ) {
        let now = time
        let position = bytes.count
        writer.write(
            response, answer: responder.answer.writer, connection: connection, to: request, now: now, to: &bytes
        )
        if case .check = response, request.isCheck, arrival == nil {
            answeredChecks &+= 1
        } else {
            count(response, request, arrival)
        }
        noteRun(from: position, of: output)
    }

    /// Writes `100 Continue`.
    func writeContinue(for output: ConnectionOutput) {
        let position = bytes.count
        bytes.append("HTTP/1.1 100 Continue\r\n\r\n")
        scheduleEnd()
        noteRun(from: position, of: output)
    }

    /// Adds what was written since a position to the run of its connection, and sends a run that is too long.
    @inline(__always)
    private func noteRun(from position: Int, of output: ConnectionOutput) {
        let last = runs.count &- 1
        var start = position
        if last >= 0, runs[last].output === output, runs[last].range.upperBound == position {
            start = runs[last].range.lowerBound
            runs[last].range = Range(uncheckedBounds: (start, bytes.count))
        } else {
            runs.append(Run(output: output, range: Range(uncheckedBounds: (position, bytes.count))))
        }
        if bytes.count &- start > ConnectionOutput.maximumUnreadBytes { send(output) }
    }

    /// Counts a request that was answered, at the latest before its response is sent.
    @inline(never)
    private func count(_ response: Response, _ request: RequestLabel, _ arrival: Timestamp?) {
        if case .problem(let fault) = response, let reason = RefusalReason(status: fault.status) {
            statistics.count(reason)
        }
        let kind = RequestKind(route: request.route, method: request.method, status: response.status.code)
        if let arrival {
            let duration = max(0, time.microsecondsSince1970 &- arrival.microsecondsSince1970)
            statistics.count(checks: 0, [kind], duration: UInt64(duration) &* 1_000)
        } else {
            answeredOthers.append(kind)
        }
    }

    // MARK: Sending

    /// Sends what a connection has written and was not sent yet.
    func send(_ output: ConnectionOutput) {
        for index in runs.indices where runs[index].output === output { send(runAt: index) }
    }

    /// Ends the batch if it has as many responses, or as many bytes of them, as there may be.
    func endIfFull() {
        if answeredChecks &+ answeredOthers.count >= Self.maximumResponses || bytes.count >= Self.keptCapacity { end() }
    }

    private func send(runAt index: Int) {
        let run = runs[index]
        guard !run.range.isEmpty else { return }
        runs[index].range = run.range.upperBound..<run.range.upperBound
        recordAnswered()
        // Only then to the channel, which may call back for more.
        if let rest = bytes.withBytes(run.range, { run.output.send($0) }) { run.output.sendThroughChannel(rest) }
    }

    /// Takes the requests that were answered until now into the metrics.
    private func recordAnswered() {
        guard let start, answeredChecks > 0 || !answeredOthers.isEmpty else { return }
        let microseconds = max(0, sources.clock().microsecondsSince1970 &- start.microsecondsSince1970)
        statistics.count(checks: answeredChecks, answeredOthers, duration: UInt64(microseconds) &* 1_000)
        answeredChecks = 0
        answeredOthers.removeAll(keepingCapacity: true)
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
        startPolicy = nil
        // Sending can make a connection answer what it held back, which is then sent behind the others.
        guard !isSending else { return scheduleEnd() }
        isSending = true
        var index = 0
        while index < runs.count {
            send(runAt: index)
            index &+= 1
        }
        isSending = false
        runs.removeAll(keepingCapacity: true)
        bytes.removeAll(keptCapacity: Self.keptCapacity)
    }
}
