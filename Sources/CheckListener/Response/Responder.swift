import UpdatePolicy

/// Answers the requests of one event loop: from a request, the policy and the time to a response.
///
/// The client and the answer lie in memory that the next check uses again, so a usual check allocates nothing.
struct Responder: ~Copyable {
    private let sources: AnswerSources
    private let recorder: CheckRecorder?
    private var client = Client()
    private(set) var answer = Answer()

    init(_ sources: AnswerSources, _ recorder: CheckRecorder?) {
        (self.sources, self.recorder) = (sources, recorder)
    }

    /// Answers a request.
    ///
    /// - Parameter bytes: Those that begin with it.
    @inline(__always)
    mutating func respond(
        to request: borrowing Request,
        in bytes: UnsafeRawBufferPointer,
        by policy: CompiledPolicy?,
        at now: Timestamp
    ) -> Outcome {
        switch request.route {
        case .checkBody(let shape):
            if let response = request.chunks?.withUnsafeBytes({ answerBody($0, shape, policy, now) }) {
                return .now(response)
            }
            return .now(answerBody(bytes.part(request.input.lowerBound, request.input.upperBound), shape, policy, now))
        case .checkQuery: return .now(answerQuery(request, bytes, policy, now))
        case .feed(let feed): return sources.documents.answer(to: feed, by: policy, at: now)
        case .gate(let gate): return answerGate(gate, policy, now)
        case .preflight: return .now(.other(ResponseHead(status: .noContent), .none))
        case .release(let token):
            guard let releases = sources.releases else { return .now(.problem(.notFound)) }
            let release = SentRelease(token: token, body: request.chunks ?? Array(bytes[request.input]))
            return .later(LaterAnswer(release, recorder: releases))
        case .refused(let fault): return .now(.problem(fault))
        }
    }

    // MARK: Checks

    private mutating func answerBody(
        _ body: UnsafeRawBufferPointer,
        _ shape: AnswerShape,
        _ policy: CompiledPolicy?,
        _ now: Timestamp
    ) -> Response {
        client.removeAll()
        do throws(RequestFault) {
            try CheckBodyDecoder.read(body, into: &client)
        } catch {
            return .problem(error)
        }
        return answerClient(shape, known: nil, policy, now)
    }

    private mutating func answerQuery(
        _ request: borrowing Request,
        _ bytes: UnsafeRawBufferPointer,
        _ policy: CompiledPolicy?,
        _ now: Timestamp
    ) -> Response {
        client.removeAll()
        do throws(RequestFault) {
            try CheckQueryDecoder.read(UnsafeRawBufferPointer(rebasing: bytes[request.input]), into: &client)
        } catch {
            return .problem(error)
        }
        return answerClient(.standard, known: request.knownAnswers(in: bytes), policy, now)
    }

    /// Answers the client that was read.
    private mutating func answerClient(
        _ shape: AnswerShape,
        known: IfNoneMatch?,
        _ policy: CompiledPolicy?,
        _ now: Timestamp
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
        switch (answer.remarks, shape) {
        case (.none, _), (_, .legacy): break
        default: return remarkableResponse(known: known, by: policy, at: now)
        }
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
        guard let signatures = sources.signatures,
            let bundle = answer.bundle ?? client.bundle.map({ ASCII.lowercased($0.string) })
        else {
            return nil
        }
        let isListed = answer.bundle != nil
        return answer.writer.withBytes { signatures.signature(of: $0, bundle: bundle, isListed: isListed, at: now) }
    }

    // MARK: Gates

    /// The most that an event loop may look at to answer: rules, and releases for each lockout.
    static let mostSteps = 900

    /// Answers a gateway, elsewhere where that takes longer than an event loop may spend on a request.
    private mutating func answerGate(_ gate: GateRequest, _ policy: CompiledPolicy?, _ now: Timestamp) -> Outcome {
        client.removeAll()
        guard let policy, let status = gate.read(into: &client) else { return .now(.openGate(by: policy)) }
        if let response = Response.gate(for: client, status, by: policy, at: now, within: Self.mostSteps) {
            return .now(response)
        }
        let key = LaterAnswers.Key(serialNumber: policy.serialNumber, texts: gate.texts)
        return .later(
            sources.documents.later.answer(key, isOfGateway: true, ifLate: .openGate(by: policy)) { [client] now in
                .gate(for: client, status, by: policy, at: now) ?? .openGate(by: policy)
            }
        )
    }
}

extension Response {
    /// The answer to a gateway that lets a client pass, or comes of a server that cannot say more.
    fileprivate static func openGate(by policy: CompiledPolicy?) -> Response {
        .other(ResponseHead(status: .noContent, revision: policy?.revision), .none)
    }

    /// The answer to a gateway about a client: whether a check would be sent a lockout, whatever the question does not say.
    ///
    /// - Parameters:
    ///   - status: That of a client that is locked out.
    ///   - steps: How many rules and releases may be looked at.
    /// - Returns: nil where there are more.
    fileprivate static func gate(
        for client: Client,
        _ status: Status,
        by policy: CompiledPolicy,
        at now: Timestamp,
        within steps: Int = .max
    ) -> Response? {
        switch policy.lockout(of: client, at: now, within: steps) {
        case .open: return .openGate(by: policy)
        case .unfinished: return nil
        case .rule(let rule):
            var fields = [(name: "App-Lockout", value: rule)]
            if status == .upgradeRequired { fields += [("Upgrade", "app"), ("Connection", "Upgrade")] }
            let head = ResponseHead(
                status: status, contentType: "application/json", fields: fields, revision: policy.revision
            )
            return .other(head, .bytes(policy.answer(to: client, at: now).body))
        }
    }
}
