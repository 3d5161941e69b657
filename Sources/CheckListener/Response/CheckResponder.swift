// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1
import UpdatePolicy

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
    private var feeds = FeedResponder()

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
    ) -> HTTPResponseStatus {
        let omitsBody = request.framing.isHead
        client.removeAll()
        switch request.route {
        case .checkBody, .checkQuery: break
        case .feed(let feed):
            do throws(RequestFault) {
                let document = try feeds.document(for: feed, policy: policy, now: now)
                return writer.writeFeed(
                    document,
                    revision: policy?.revision,
                    known: request.knownAnswers,
                    connection: connection,
                    omitsBody: omitsBody,
                    now: now,
                    to: &output
                )
            } catch {
                return respond(with: error, connection: connection, omitsBody: omitsBody, now: now, output: &output)
            }
        case .gate(let gate):
            return respond(to: gate, connection: connection, omitsBody: omitsBody, policy, now, &output)
        case .codePushReport:
            writer.writeReceipt(connection: connection, now: now, to: &output)
            return .ok
        }
        do throws(RequestFault) {
            try request.read(into: &client)
        } catch {
            return respond(with: error, connection: connection, omitsBody: omitsBody, now: now, output: &output)
        }
        return writeAnswer(
            shape: request.shape,
            known: request.knownAnswers,
            connection: connection,
            omitsBody: omitsBody,
            policy: policy,
            now: now,
            output: &output
        )
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

    /// Answers a gateway: whether a check would be sent a lockout, whatever the question does not say of the client.
    private mutating func respond(
        to request: GateRequest,
        connection: ResponseWriter.ConnectionHeader,
        omitsBody: Bool,
        _ policy: CompiledPolicy?,
        _ now: Timestamp,
        _ output: inout ByteWriter
    ) -> HTTPResponseStatus {
        var refusal: ResponseWriter.Refusal?
        if let policy, let status = request.read(into: &client) {
            policy.writeAnswer(for: client, at: now, shape: .standard, to: &answer)
            // Of the few that are locked out it is asked whether what was not sent could change that.
            if let bundle = answer.bundle, answer.sent.contains(where: \.lockout), policy.canAnnounce(toApp: bundle) {
                let messages = policy.certainMessages(for: client, at: now)
                if let lockout = messages.first(where: \.lockout) {
                    refusal = ResponseWriter.Refusal(status: status, rule: lockout.id)
                }
            }
        }
        return writer.writeGate(
            refusal,
            answer.writer,
            revision: policy?.revision,
            connection: connection,
            omitsBody: omitsBody,
            now: now,
            to: &output
        )
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
