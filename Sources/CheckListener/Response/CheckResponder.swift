// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1
import UpdatePolicy

/// Makes the responses of one connection: from a request and the time to a status and bytes.
struct CheckResponder {
    /// A response, complete.
    struct Response {
        /// The status in the bytes.
        let status: HTTPResponseStatus
        /// The head and the body.
        let bytes: ByteBuffer
    }

    private let policy: CurrentPolicy
    private let recorder: CheckRecorder?
    private let loop: EventLoopContext
    /// The last answer to a check, whose memory the next one uses.
    private var answer = ByteBuffer()

    /// Creates the responder of a connection.
    ///
    /// - Parameters:
    ///   - policy: What answers.
    ///   - recorder: Counts the checks; nil: they are not counted.
    ///   - loop: What the connections of the same event loop share.
    init(policy: CurrentPolicy, recorder: CheckRecorder?, loop: EventLoopContext) {
        self.policy = policy
        self.recorder = recorder
        self.loop = loop
    }

    /// The response to a request: an answer, or a problem where the check cannot be read.
    mutating func response(
        to request: borrowing CheckRequest,
        connection: ResponseWriter.ConnectionHeader,
        at now: Timestamp
    ) -> Response {
        do throws(RequestFault) {
            var client = Client()
            try request.read(into: &client)
            return response(to: client, of: request, connection: connection, at: now)
        } catch {
            return problem(error, connection: connection, omitsBody: request.framing.isHead, at: now)
        }
    }

    /// The response to a request that is refused.
    func response(to refusal: ConnectionState.Refusal, at now: Timestamp) -> Response {
        problem(refusal.fault, connection: refusal.connection, omitsBody: refusal.omitsBody, at: now)
    }

    private mutating func response(
        to client: borrowing Client,
        of request: borrowing CheckRequest,
        connection: ResponseWriter.ConnectionHeader,
        at now: Timestamp
    ) -> Response {
        let current = policy.value
        loop.body.removeAll(keepingCapacity: true)
        if let current {
            let summary = current.writeAnswer(for: client, at: now, shape: request.shape, into: &loop.body)
            recorder?.record(client, summary, current, at: now)
        } else {
            loop.body.append(contentsOf: request.shape.emptyAnswer.utf8)
            recorder?.record(client, nil, nil, at: now)
        }
        if let known = request.knownAnswers {
            let (status, bytes) = loop.writer.revalidatableAnswer(
                body: loop.body,
                revision: current?.revision,
                known: known,
                connection: connection,
                omitsBody: request.framing.isHead,
                now: now
            )
            return Response(status: status, bytes: bytes)
        }
        loop.writer.writeAnswer(
            body: loop.body,
            revision: current?.revision,
            connection: connection,
            omitsBody: request.framing.isHead,
            now: now,
            to: &answer
        )
        return Response(status: .ok, bytes: answer)
    }

    private func problem(
        _ fault: RequestFault,
        connection: ResponseWriter.ConnectionHeader,
        omitsBody: Bool,
        at now: Timestamp
    ) -> Response {
        loop.statistics.count(fault.status)
        return Response(
            status: fault.status,
            bytes: loop.writer.problem(fault, connection: connection, omitsBody: omitsBody, now: now)
        )
    }
}

extension AnswerShape {
    /// The answer without messages, which needs no policy.
    fileprivate var emptyAnswer: String {
        switch self {
        case .standard: #"{"messages":[]}"#
        case .legacy: "{}"
        }
    }
}
