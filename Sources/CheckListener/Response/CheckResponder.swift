import NIOCore
import UpdatePolicy

/// Answers the checks of one event loop.
///
/// The client and the answer lie in memory that the next check uses again, so a usual check allocates nothing.
struct CheckResponder: ~Copyable {
    private let recorder: CheckRecorder?
    private let signatures: LockoutSignatures?
    private var client = Client()
    /// The last answer.
    private(set) var answer = Answer()

    /// Creates the responder of an event loop.
    ///
    /// - Parameters:
    ///   - recorder: Counts the checks; nil: they are not counted.
    ///   - signatures: Those of lockouts; nil: they are not signed.
    init(recorder: CheckRecorder?, signatures: LockoutSignatures?) {
        self.recorder = recorder
        self.signatures = signatures
    }

    /// Answers a plain request.
    ///
    /// - Parameter bytes: Those that begin with the request.
    mutating func respond(
        to request: ExpressRequest,
        in bytes: UnsafeRawBufferPointer,
        by policy: CompiledPolicy?,
        at now: Timestamp
    ) -> Response {
        client.removeAll()
        let input = UnsafeRawBufferPointer(rebasing: bytes[request.input])
        do throws(RequestFault) {
            switch request.route {
            case .checkBody, .legacyCheckBody: try CheckBodyDecoder.read(input, into: &client)
            case .checkQuery: try CheckQueryDecoder.read(input, into: &client)
            }
        } catch {
            return .problem(error)
        }
        return answerClient(request.shape, known: request.knownAnswers(in: bytes), by: policy, at: now)
    }

    /// Answers a check whose client is a JSON body.
    mutating func respond(
        toBody body: ByteBuffer,
        shape: AnswerShape,
        by policy: CompiledPolicy?,
        at now: Timestamp
    ) -> Response {
        client.removeAll()
        do throws(RequestFault) {
            try CheckBodyDecoder.read(body, into: &client)
        } catch {
            return .problem(error)
        }
        return answerClient(shape, known: nil, by: policy, at: now)
    }

    /// Answers a check whose client is a query.
    ///
    /// - Parameter known: The answers that the client has already.
    mutating func respond(
        toQuery query: Substring,
        known: IfNoneMatch,
        by policy: CompiledPolicy?,
        at now: Timestamp
    ) -> Response {
        client.removeAll()
        do throws(RequestFault) {
            try CheckQueryDecoder.read(String(query), into: &client)
        } catch {
            return .problem(error)
        }
        return answerClient(.standard, known: known, by: policy, at: now)
    }

    /// Answers the client that was read.
    private mutating func answerClient(
        _ shape: AnswerShape,
        known: IfNoneMatch?,
        by policy: CompiledPolicy?,
        at now: Timestamp
    ) -> Response {
        if let policy {
            policy.writeAnswer(for: client, at: now, shape: shape, to: &answer)
        } else {
            answer.writeWithoutPolicy(shape: shape)
        }
        #if DEBUG
            DebugHook.answering(with: answer, by: policy)
        #endif
        recorder?.record(client, answer, policy, at: now)
        if answer.remarks != .none, shape == .standard { return remarkableResponse(known: known, by: policy, at: now) }
        guard let known else { return .check(revision: policy?.revision) }
        // Nothing in it depends on the fields of the request, so it has no `Vary`.
        return .revalidatable(
            "application/json", answer.writer.withBytes { EntityTag(of: $0) }, known: known, revision: policy?.revision,
            body: .answer
        )
    }

    /// An answer whose head says more than the usual one.
    @inline(never)
    private func remarkableResponse(
        known: IfNoneMatch?,
        by policy: CompiledPolicy?,
        at now: Timestamp
    ) -> Response {
        let signed = answer.remarks == .lockout ? signature(at: now) : nil
        let tag = known.map { _ in answer.writer.withBytes { EntityTag(of: $0, signedAs: signed?.input) } }
        return .revalidatable(
            "application/json", tag,
            fields: answer.remarks == .brake ? [(name: "Policy-Brake", value: "on")] : signed?.fields ?? [],
            known: known, revision: policy?.revision, body: .answer
        )
    }

    /// The signature of the answer, with the app's bundle as the policy spells it, or else in lower case.
    private func signature(at now: Timestamp) -> LockoutSignatures.Signed? {
        guard let signatures, let bundle = answer.bundle ?? client.bundle.map({ ASCII.lowercased($0.string) }) else {
            return nil
        }
        let isListed = answer.bundle != nil
        return answer.writer.withBytes { signatures.signature(of: $0, bundle: bundle, isListed: isListed, at: now) }
    }
}
