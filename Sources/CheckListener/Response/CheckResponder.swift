// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1
import UpdatePolicy

/// What came of a request.
enum ResponseOutcome {
    /// The response with this status is written.
    case written(HTTPResponseStatus)
    /// Nothing is written: what answers it is to be made first.
    case awaits(DocumentQuestion)
}

/// Writes the responses of one event loop: from a request and the time to a status and bytes.
///
/// The client, the answer and the output lie in memory that the next request uses again, so a usual check allocates
/// nothing.
struct CheckResponder: ~Copyable {
    private let recorder: CheckRecorder?
    private let statistics: EventLoopStatistics
    private var writer = ResponseWriter()
    private var client = Client()
    private var answer = Answer()
    private var feeds = FeedCache()

    /// Creates the responder of an event loop.
    ///
    /// - Parameters:
    ///   - recorder: Counts the checks; nil: they are not counted.
    ///   - statistics: Counts the problems.
    init(recorder: CheckRecorder?, statistics: EventLoopStatistics) {
        self.recorder = recorder
        self.statistics = statistics
    }

    /// Answers a request that the parser read, or writes a problem where the check cannot be read.
    mutating func respond(
        to request: borrowing CheckRequest,
        connection: ResponseWriter.ConnectionHeader,
        policy: CompiledPolicy?,
        now: Timestamp,
        output: inout ByteWriter
    ) -> ResponseOutcome {
        client.removeAll()
        switch request.route {
        case .checkBody, .checkQuery: break
        case .feed(let feed):
            feeds.begin(second: HTTPDate.second(of: now), policy)
            guard let document = feeds[feed] else { return .awaits(DocumentQuestion(feed, by: policy)) }
            return .written(
                respond(to: request, with: .document(document), connection, policy?.revision, now, &output)
            )
        case .gate(let gate):
            var answer = GateAnswer.pass
            if let policy, let status = gate.read(into: &client) {
                policy.writeAnswer(for: client, at: now, shape: .standard, to: &self.answer)
                guard GateAnswer.isQuick(after: self.answer, by: policy) else {
                    return .awaits(DocumentQuestion(gate, client, refusal: status, by: policy))
                }
                answer = GateAnswer(to: client, refusal: status, after: self.answer, by: policy, at: now)
            }
            return .written(respond(to: request, with: .gate(answer), connection, policy?.revision, now, &output))
        }
        do throws(RequestFault) {
            try request.read(into: &client)
        } catch {
            return .written(respond(to: request, with: .fault(error), connection, nil, now, &output))
        }
        return .written(
            writeAnswer(
                shape: request.shape,
                known: request.knownAnswers,
                connection: connection,
                omitsBody: request.framing.isHead,
                policy: policy,
                now: now,
                output: &output
            )
        )
    }

    /// Keeps a document that was made, where it still is the document of now.
    mutating func keep(_ answer: MadeAnswer, to question: DocumentQuestion, madeAt time: Timestamp) {
        guard case .document(let document) = answer, case .feed(let request) = question.subject,
            feeds.keeps(second: HTTPDate.second(of: time), question.policy)
        else { return }
        feeds.insert(document, for: request)
    }

    /// Answers a request with what was made for it.
    mutating func respond(
        to request: borrowing CheckRequest,
        with answer: MadeAnswer,
        _ connection: ResponseWriter.ConnectionHeader,
        _ revision: Int64?,
        _ now: Timestamp,
        _ output: inout ByteWriter
    ) -> HTTPResponseStatus {
        let omitsBody = request.framing.isHead
        switch answer {
        case .document(let document):
            return writer.writeFeed(
                document,
                revision: revision,
                known: request.knownAnswers,
                connection: connection,
                omitsBody: omitsBody,
                now: now,
                to: &output
            )
        case .gate(let answer):
            return writer.writeGate(
                answer,
                revision: revision,
                connection: connection,
                omitsBody: omitsBody,
                now: now,
                to: &output
            )
        case .fault(let fault):
            return respond(with: fault, connection: connection, omitsBody: omitsBody, now: now, output: &output)
        }
    }

    /// Answers a plain request, or writes a problem where the check cannot be read.
    mutating func respond(
        to request: ExpressRequest,
        in bytes: UnsafeRawBufferPointer,
        connection: ResponseWriter.ConnectionHeader,
        policy: CompiledPolicy?,
        now: Timestamp,
        output: inout ByteWriter
    ) -> HTTPResponseStatus {
        client.removeAll()
        let input = UnsafeRawBufferPointer(rebasing: bytes[request.input])
        do throws(RequestFault) {
            switch request.route {
            case .checkBody, .legacyCheckBody: try CheckBodyDecoder.read(input, into: &client)
            case .checkQuery: try CheckQueryDecoder.read(input, into: &client)
            }
        } catch {
            return respond(with: error, connection: connection, omitsBody: false, now: now, output: &output)
        }
        return writeAnswer(
            shape: request.shape,
            known: request.knownAnswers(in: bytes),
            connection: connection,
            omitsBody: false,
            policy: policy,
            now: now,
            output: &output
        )
    }

    /// Writes a problem.
    func respond(
        with fault: RequestFault,
        connection: ResponseWriter.ConnectionHeader,
        omitsBody: Bool,
        now: Timestamp,
        output: inout ByteWriter
    ) -> HTTPResponseStatus {
        statistics.count(fault.status)
        writer.writeProblem(fault, connection: connection, omitsBody: omitsBody, now: now, to: &output)
        return fault.status
    }

    /// Answers the client that was read.
    private mutating func writeAnswer(
        shape: AnswerShape,
        known: IfNoneMatch?,
        connection: ResponseWriter.ConnectionHeader,
        omitsBody: Bool,
        policy: CompiledPolicy?,
        now: Timestamp,
        output: inout ByteWriter
    ) -> HTTPResponseStatus {
        if let policy {
            policy.writeAnswer(for: client, at: now, shape: shape, to: &answer)
        } else {
            answer.writeWithoutPolicy(shape: shape)
        }
        recorder?.record(client, answer, policy, at: now)
        if let known {
            return writer.writeRevalidatableAnswer(
                answer.writer,
                revision: policy?.revision,
                known: known,
                connection: connection,
                omitsBody: omitsBody,
                now: now,
                to: &output
            )
        }
        writer.writeAnswer(
            answer.writer,
            revision: policy?.revision,
            connection: connection,
            omitsBody: omitsBody,
            now: now,
            to: &output
        )
        return .ok
    }
}
