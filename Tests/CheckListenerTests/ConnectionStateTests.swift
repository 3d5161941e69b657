import NIOCore
import NIOHTTP1
import TestRandom
import Testing

@testable import CheckListener

@Suite("Connection state")
struct ConnectionStateTests {
    /// What happens on a connection.
    enum Event {
        case head(HTTPMethod = .GET, String = "/v1/check?bundle=a", HTTPVersion = .http1_1, HTTPHeaders = ["Host": "a"])
        case body(Int)
        case end
        /// Bytes of a head that is not complete.
        case bytes
        case writable(Bool)
        /// The handler answers what was held.
        case resume
        case failed(ConnectionFailure)
        case handshake
        case inputClosed
        case discarded(Int)
        case heldTooMuch
        case beginDocument
        case endDocument
        case beginEnding
        case finishOutput
        case deadline
        case evicted
        case shutdown
        case grace
        case shutdownLimit

        static func post(_ headers: HTTPHeaders) -> Event {
            .head(.POST, "/v1/check", .http1_1, ["Host": "a"] + headers)
        }
    }

    /// A connection whose events the test chooses. It writes down what follows from each.
    struct Machine {
        var state: ConnectionState
        var isTooOften = false

        init(_ change: (inout ConnectionLimits) -> Void = { _ in }) {
            var limits = ConnectionLimits()
            change(&limits)
            state = ConnectionState(limits: limits)
        }

        /// The actions that follow from an event, and the phase that is entered.
        mutating func happens(_ event: Event) -> String {
            let steps = steps(for: event)
            let actions = steps.map { Self.text($0.action) }.filter { $0 != "none" }
            let text = actions.isEmpty ? "none" : actions.joined(separator: ", ")
            return steps.compactMap(\.entered).last.map { "\(text) -> \($0)" } ?? text
        }

        mutating func steps(for event: Event) -> [ConnectionState.Step] {
            switch event {
            case .head(let method, let uri, let version, let headers):
                let head = HTTPRequestHead(version: version, method: method, uri: uri, headers: headers)
                return [received(.head(head))]
            case .body(let count): return [received(.body(ByteBuffer(repeating: 0x20, count: count)))]
            case .end: return [received(.end(nil))]
            case .bytes:
                let piece = try? withUnsafeBytes(of: UInt8(ascii: "P")) { try state.nextPiece(of: $0) }
                try? state.pieceEnded()
                return [ConnectionState.Step(action: .none, entered: piece?.entered)]
            case .writable(let isWritable): return [state.writabilityChanged(isWritable)]
            case .resume:
                var steps: [ConnectionState.Step] = []
                let fault = rateFault
                while let step = state.nextHeld(rateLimit: { _ in fault }) { steps.append(step) }
                return steps + [state.caughtUp(hasUnparsedBytes: false)]
            case .failed(let failure): return [state.failed(failure)]
            case .handshake:
                state.handshakeCompleted()
                return []
            case .inputClosed: return [state.inputClosed(hasUnparsedBytes: false)]
            case .discarded(let count): return [state.discarded(count)]
            case .heldTooMuch: return [state.heldTooMuch()]
            case .beginDocument: return [state.beginAwaitingDocument()]
            case .endDocument: return [state.endAwaitingDocument()]
            case .beginEnding: return [state.beginEndingOutput()]
            case .finishOutput: return [state.outputSent()]
            case .deadline: return [state.deadlineExpired()]
            case .evicted: return [state.evicted()]
            case .shutdown:
                state.beginShutdown()
                return []
            case .grace: return [state.shutdownGraceExpired()]
            case .shutdownLimit: return [state.shutdownLimitExpired()]
            }
        }

        private var rateFault: RequestFault? { isTooOften ? RequestFault(.tooManyRequests, "Too often.") : nil }

        private mutating func received(_ part: HTTPServerRequestPart) -> ConnectionState.Step {
            let fault = rateFault
            return state.received(part, rateLimit: { _ in fault })
        }

        static func text(_ action: ConnectionState.Action) -> String {
            switch action {
            case .none: "none"
            case .giveUpDocument: "give up"
            case .sendContinue: "continue"
            case .answer(_, let connection): "answer \(connection)"
            case .refuse(let refusal):
                "refuse \(refusal.fault.status.code) \(refusal.connection)"
                    + (refusal.reason.map { " \($0)" } ?? "") + (refusal.endsOutput ? ", end" : "")
            case .flush: "flush"
            case .resume: "resume"
            case .endOutput: "end"
            case .closeOutput: "close output"
            case .close(let reason): "close" + (reason.map { " \($0)" } ?? "")
            case .flushAndClose(let reason): "flush, close" + (reason.map { " \($0)" } ?? "")
            }
        }
    }

    /// Events in order, each with what follows from it.
    struct Scenario: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var limits: @Sendable (inout ConnectionLimits) -> Void = { _ in }
        let steps: @Sendable () -> [(Event, String)]
    }

    private static let fault = ConnectionFailure.request(.badRequest("No request."), .malformedRequest)

    static let requests = [
        Scenario(testDescription: "requests without a body are answered at their end") {
            [(.head(), "none"), (.end, "answer implied -> idle"), (.head(), "none"), (.end, "answer implied -> idle")]
        },
        Scenario(testDescription: "a body has a phase of its own") {
            [
                (.bytes, "none"), (.post(["Content-Length": "30"]), "none -> body"), (.body(10), "none"),
                (.body(20), "none"), (.end, "answer implied -> idle"),
            ]
        },
        Scenario(testDescription: "a head that begins between two requests has one too") {
            [
                (.head(), "none"), (.end, "answer implied -> idle"), (.bytes, "none -> head"), (.bytes, "none"),
                (.head(), "none"), (.end, "answer implied -> idle"),
            ]
        },
        Scenario(testDescription: "a client that waits for it is told to continue") {
            [(.post(["Content-Length": "5", "Expect": "100-continue"]), "continue -> body"), (.body(5), "none")]
        },
        Scenario(testDescription: "an HTTP/1.0 client is told whether the connection stays open") {
            [
                (.head(.GET, "/v1/check?bundle=a", .http1_0, ["Connection": "keep-alive"]), "none"),
                (.end, "answer keepAlive -> idle"),
                (.head(.GET, "/v1/check?bundle=a", .http1_0, [:]), "none"), (.end, "answer close -> lingering"),
            ]
        },
        Scenario(testDescription: "what comes after the last answer is thrown away") {
            [
                (.head(.GET, "/v1/check?bundle=a", .http1_1, ["Host": "a", "Connection": "close"]), "none"),
                (.end, "answer close -> lingering"), (.head(), "none"), (.body(5), "none"), (.end, "none"),
                (.failed(fault), "none"), (.discarded(8 << 20), "none"), (.discarded(1), "close"),
            ]
        },
        Scenario(testDescription: "the last request closes it", limits: { $0.requestsPerConnection = 2 }) {
            [
                (.head(), "none"), (.end, "answer implied -> idle"), (.head(), "none"),
                (.end, "answer close -> lingering"),
            ]
        },
        Scenario(testDescription: "a request that is refused without a body is followed by others") {
            [
                (.head(.GET, "/nothing"), "refuse 404 implied"), (.end, "none -> idle"), (.head(), "none"),
                (.end, "answer implied -> idle"),
            ]
        },
        Scenario(testDescription: "the body of a refused request is read over") {
            [
                (.post(["Content-Length": "99999"]), "refuse 413 close -> body"), (.body(5), "none"),
                (.end, "end -> lingering"), (.inputClosed, "close"),
            ]
        },
        Scenario(testDescription: "a body that grows too large is refused, and read over to a limit") {
            [
                (.post(["Transfer-Encoding": "chunked"]), "none -> body"), (.body(16_384), "none"),
                (.body(1), "refuse 413 close -> body"), (.body(8 << 20), "none"), (.body(1), "close"),
            ]
        },
        Scenario(testDescription: "a head that can be read in two ways ends the connection") {
            [
                (.head(.GET, "/", .http1_1, [:]), "refuse 400 close malformedRequest, end -> lingering"),
                (.end, "none"),
            ]
        },
        Scenario(testDescription: "bytes that are no request end the connection, within a request too") {
            [
                (.post(["Content-Length": "5"]), "none -> body"),
                (.failed(fault), "refuse 400 close malformedRequest, end -> lingering"),
            ]
        },
        Scenario(testDescription: "bytes that are no request are not answered where the request is refused already") {
            [(.post(["Content-Length": "99999"]), "refuse 413 close -> body"), (.failed(fault), "end -> lingering")]
        },
        Scenario(testDescription: "a client that has sent all gets its last answer") {
            [
                (.head(), "none"), (.end, "answer implied -> idle"), (.inputClosed, "end -> lingering"),
                (.inputClosed, "close"),
            ]
        },
        Scenario(testDescription: "a TLS handshake that fails is counted once") {
            [(.failed(.tls), "close handshake"), (.failed(.tls), "close")]
        },
        Scenario(testDescription: "TLS that fails later is not counted, nor is a connection that is gone") {
            [(.handshake, "none"), (.failed(.tls), "close"), (.failed(.connection), "close")]
        },
    ]

    static let waits = [
        Scenario(testDescription: "requests wait while the client reads no responses") {
            [
                (.head(), "none"), (.end, "answer implied -> idle"), (.writable(false), "flush -> unread"),
                (.writable(false), "none"), (.head(), "none"), (.end, "none"), (.head(.GET, "/nothing"), "none"),
                (.end, "none"), (.writable(true), "resume -> idle"),
                (.resume, "answer implied, refuse 404 implied -> idle"), (.resume, "none"),
            ]
        },
        Scenario(testDescription: "a request that has begun goes on where it was") {
            [
                (.post(["Content-Length": "5"]), "none -> body"), (.writable(false), "flush -> unread"),
                (.body(5), "none"), (.end, "none"), (.writable(true), "resume -> idle"),
                (.resume, "answer implied -> idle"),
            ]
        },
        Scenario(testDescription: "a body that has begun has its time again") {
            [
                (.post(["Content-Length": "5"]), "none -> body"), (.writable(false), "flush -> unread"),
                (.writable(true), "resume -> body"), (.resume, "none"),
            ]
        },
        Scenario(testDescription: "what is no request is refused after those that came before it") {
            [
                (.writable(false), "flush -> unread"), (.head(), "none"), (.end, "none"), (.failed(fault), "none"),
                (.writable(true), "resume -> idle"),
                (.resume, "answer implied, refuse 400 close malformedRequest, end -> lingering"),
            ]
        },
        Scenario(testDescription: "the output ends after what waited, where the client has sent all") {
            [
                (.writable(false), "flush -> unread"), (.head(), "none"), (.end, "none"), (.inputClosed, "none"),
                (.writable(true), "resume -> idle"), (.resume, "answer implied, end -> lingering"),
            ]
        },
        Scenario(testDescription: "the output ends when the last answer is read, where the client has sent all") {
            [
                (.head(), "none"), (.end, "answer implied -> idle"), (.writable(false), "flush -> unread"),
                (.inputClosed, "none"), (.writable(true), "resume -> idle"), (.resume, "end -> lingering"),
                (.beginEnding, "none -> unread"), (.writable(false), "flush -> unread"),
                (.writable(true), "resume -> unread"), (.resume, "none"), (.finishOutput, "close -> lingering"),
            ]
        },
        Scenario(testDescription: "the last answer is waited for, where the client ends its side meanwhile") {
            [
                (.head(.GET, "/v1/check?bundle=a", .http1_0, [:]), "none"), (.end, "answer close -> lingering"),
                (.beginEnding, "none -> unread"), (.inputClosed, "none"), (.finishOutput, "close -> lingering"),
            ]
        },
        Scenario(testDescription: "what comes after a document that is made is held until it is sent") {
            [
                (.head(), "none"), (.end, "answer implied -> idle"), (.beginDocument, "none -> document"),
                (.head(), "none"), (.end, "none"), (.writable(false), "flush -> unread"),
                (.writable(true), "resume -> document"), (.resume, "none"), (.inputClosed, "none"),
                (.endDocument, "resume -> idle"), (.resume, "answer implied, end -> lingering"),
            ]
        },
        Scenario(testDescription: "what waits is forgotten when the last response is written") {
            [
                (.writable(false), "flush -> unread"), (.head(.GET, "/v1/check?bundle=a", .http1_0, [:]), "none"),
                (.end, "none"), (.head(), "none"), (.end, "none"), (.writable(true), "resume -> idle"),
                (.resume, "answer close -> lingering"),
            ]
        },
        Scenario(testDescription: "a client that sends too much meanwhile is given up") {
            [(.writable(false), "flush -> unread"), (.heldTooMuch, "close unreadTimeout")]
        },
        Scenario(testDescription: "a connection that is gone is closed at once") {
            [(.writable(false), "flush -> unread"), (.head(), "none"), (.failed(.connection), "close")]
        },
    ]

    static let deadlines = [
        Scenario(testDescription: "a connection on which nothing comes") { [(.deadline, "close headerTimeout")] },
        Scenario(testDescription: "a head that has begun") {
            [(.bytes, "none"), (.deadline, "refuse 408 close headerTimeout, end -> lingering"), (.deadline, "close")]
        },
        Scenario(testDescription: "a body") {
            [
                (.post(["Content-Length": "5"]), "none -> body"),
                (.deadline, "refuse 408 close bodyTimeout, end -> lingering"),
            ]
        },
        Scenario(testDescription: "the body of a refused request") {
            [(.post(["Content-Length": "99999"]), "refuse 413 close -> body"), (.deadline, "close bodyTimeout")]
        },
        Scenario(testDescription: "the next request") {
            [(.head(), "none"), (.end, "answer implied -> idle"), (.deadline, "close idleTimeout")]
        },
        Scenario(testDescription: "responses that are not read") {
            [(.writable(false), "flush -> unread"), (.deadline, "close unreadTimeout")]
        },
        Scenario(testDescription: "a document that is not made") {
            [
                (.head(), "none"), (.end, "answer implied -> idle"), (.beginDocument, "none -> document"),
                (.deadline, "give up"), (.endDocument, "resume -> idle"),
            ]
        },
        Scenario(testDescription: "the last answer, which is not read") {
            [
                (.head(.GET, "/v1/check?bundle=a", .http1_0, [:]), "none"), (.end, "answer close -> lingering"),
                (.beginEnding, "none -> unread"), (.deadline, "close unreadTimeout"),
            ]
        },
        Scenario(testDescription: "room for another connection") { [(.evicted, "flush, close evicted")] },
        Scenario(testDescription: "a shutdown between two requests") {
            [(.shutdown, "none"), (.grace, "flush, close")]
        },
        Scenario(testDescription: "a shutdown within a request, whose answer is the last") {
            [
                (.post(["Content-Length": "5"]), "none -> body"), (.shutdown, "none"), (.grace, "none"),
                (.body(5), "none"), (.end, "answer close -> lingering"), (.shutdownLimit, "flush, close"),
            ]
        },
    ]

    @Test("The state follows from requests and failures", arguments: requests)
    func follows(_ scenario: Scenario) {
        play(scenario)
    }

    @Test("The state holds what comes while the client does not read", arguments: waits)
    func holds(_ scenario: Scenario) {
        play(scenario)
    }

    @Test("The state ends what takes too long", arguments: deadlines)
    func endsLate(_ scenario: Scenario) {
        play(scenario)
    }

    private func play(_ scenario: Scenario) {
        var machine = Machine(scenario.limits)
        for (index, (event, expected)) in scenario.steps().enumerated() {
            let happened = machine.happens(event)
            #expect(happened == expected, "step \(index + 1), \(event)")
        }
    }

    @Test("The state refuses requests that come too often at their end, and ends the connection with the 16th in a row")
    func rateLimit() {
        var machine = Machine()
        machine.isTooOften = true
        for _ in 1...14 {
            #expect(machine.happens(.post(["Content-Length": "5"])) == "none -> body")
            #expect(machine.happens(.body(5)) == "none")
            #expect(machine.happens(.end) == "refuse 429 implied -> idle")
        }
        #expect(machine.happens(.head(.GET, "/nothing")) == "refuse 429 implied")
        #expect(machine.happens(.end) == "none -> idle")
        #expect(machine.happens(.head()) == "none")
        #expect(machine.happens(.end) == "refuse 429 close, end -> lingering")
    }

    @Test("The state is idle between two requests, and before the first one begins")
    func isIdle() {
        var machine = Machine()
        for (event, isIdle) in [
            (Event.bytes, false), (.head(), false), (.end, true), (.bytes, false),
            (.post(["Content-Length": "5"]), false), (.body(5), false), (.end, true), (.writable(false), false),
            (.writable(true), true), (.inputClosed, false),
        ] {
            _ = machine.happens(event)
            #expect(machine.state.isIdle == isIdle, "\(event)")
        }
        #expect(Machine().state.isIdle)
    }

    @Test(
        "The state answers each request at most once, in whatever order events come, and nothing after the last response"
    )
    func anyOrder() {
        var random = SeededGenerator()
        let seed = random.seed
        let events: [Event] = [
            .head(), .head(), .head(.GET, "/nothing"), .post(["Content-Length": "5"]),
            .post(["Content-Length": "99999"]), .head(.GET, "/v1/check?bundle=a", .http1_0, [:]), .body(5),
            .body(9_000), .end, .end, .end, .bytes, .writable(false), .writable(true), .resume, .resume,
            .failed(Self.fault), .inputClosed, .beginDocument, .endDocument, .deadline, .evicted, .shutdown, .grace,
        ]
        for _ in 0..<500 {
            var machine = Machine()
            var heads = 0
            var responses = 0
            var hasEnded = false
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let event = random.pick(events)
                if case .head = event { heads += 1 }
                let wasUnread = machine.state.isUnread
                for action in machine.steps(for: event).map(\.action) {
                    let isResponse = action.isResponse
                    if isResponse { responses += 1 }
                    if isResponse, hasEnded { Issue.record("a response after the last one, seed \(seed)") }
                    if isResponse, wasUnread { Issue.record("a response to a client that reads none, seed \(seed)") }
                    hasEnded = hasEnded || action.endsOutput
                }
                if machine.state.acceptsRequests == hasEnded { Issue.record("no agreement on the end, seed \(seed)") }
            }
            // One more for what is no request, or takes too long to become one.
            #expect(responses <= heads + 1, "seed \(seed)")
        }
    }
}

extension ConnectionState.Action {
    fileprivate var isResponse: Bool {
        switch self {
        case .answer, .refuse: true
        default: false
        }
    }

    fileprivate var endsOutput: Bool {
        switch self {
        case .answer(_, let connection): connection == .close
        case .refuse(let refusal): refusal.endsOutput
        case .endOutput, .closeOutput, .close, .flushAndClose: true
        case .none, .sendContinue, .flush, .resume, .giveUpDocument: false
        }
    }
}

extension HTTPHeaders {
    fileprivate static func + (first: HTTPHeaders, second: HTTPHeaders) -> HTTPHeaders {
        var headers = first
        headers.add(contentsOf: second)
        return headers
    }
}
