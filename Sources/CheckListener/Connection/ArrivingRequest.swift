import NIOCore
import NIOHTTP1

/// The request that is arriving on a connection, or was the last to arrive.
enum ArrivingRequest {
    /// The connection is between two requests.
    case none
    /// Its head was accepted. It is refused at its end where its client asks too often.
    case receiving(ParsedRequest, tooOften: RequestFault?)
    /// It is answered already and still arriving; up to `remaining` more bytes of it are discarded.
    case discarding(remaining: Int)
    /// It has arrived, and is answered once its document is made.
    case awaitingDocument

    /// What follows from a part of a request.
    enum Outcome {
        /// Nothing.
        case none
        /// A body is to come.
        case accepted(RequestFraming)
        /// The request is refused; `hasRest` where some of it is still to come.
        case refused(RequestFault, RequestLabel, RequestFraming, hasRest: Bool)
        /// The request can be read in two ways, so nothing after it can be read.
        case irregular(RequestFault)
        /// The request has arrived.
        case complete(ParsedRequest)
        /// A request that is answered already has arrived.
        case discarded
        /// More has come of it than is discarded.
        case floods
    }

    /// The most bytes of a refused request that are read before the connection is closed.
    ///
    /// A client that sends its whole request before it reads would otherwise see a reset instead of the answer.
    static let maximumDiscardedBytes = 8 << 20

    /// The head of a request was parsed.
    ///
    /// - Parameter rateLimit: Counts the request; the fault if its client asks too often.
    mutating func begin(_ head: HTTPRequestHead, rateLimit: (HTTPRequestHead) -> RequestFault?) -> Outcome {
        let framing: RequestFraming
        do throws(RequestFields.Irregularity) {
            framing = try RequestFraming(head)
        } catch {
            return .irregular(error.fault)
        }
        let tooOften = rateLimit(head)
        do throws(RequestFault) {
            self = .receiving(try ParsedRequest(head, framing: framing), tooOften: tooOften)
        } catch {
            let label = RequestLabel(route: RequestKind.Route(target: head.uri), method: framing.method)
            return refuse(tooOften ?? error, label, framing)
        }
        return framing.hasBody ? .accepted(framing) : .none
    }

    /// A part of the body was parsed.
    mutating func append(_ bytes: ByteBuffer) -> Outcome {
        switch take() {
        case .receiving(var request, let tooOften):
            do throws(RequestFault) {
                try request.append(bytes)
            } catch {
                return refuse(error, request.label, request.framing)
            }
            self = .receiving(request, tooOften: tooOften)
            return .none
        case .discarding(let remaining):
            self = .discarding(remaining: remaining - bytes.readableBytes)
            return bytes.readableBytes <= remaining ? .none : .floods
        case let other:
            self = other
            return .none
        }
    }

    /// The request has ended.
    mutating func end() -> Outcome {
        switch take() {
        case .receiving(let request, let tooOften?):
            return .refused(tooOften, request.label, request.framing, hasRest: false)
        case .receiving(let request, nil): return .complete(request)
        case .discarding: return .discarded
        case let other:
            self = other
            return .none
        }
    }

    private mutating func refuse(_ fault: RequestFault, _ label: RequestLabel, _ framing: RequestFraming) -> Outcome {
        self = framing.hasBody ? .discarding(remaining: Self.maximumDiscardedBytes) : .none
        return .refused(fault, label, framing, hasRest: framing.hasBody)
    }

    /// Moves the request out, so that it is changed without a copy.
    private mutating func take() -> ArrivingRequest {
        var request = ArrivingRequest.none
        swap(&request, &self)
        return request
    }
}
