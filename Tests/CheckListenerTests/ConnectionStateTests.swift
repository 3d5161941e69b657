import NIOCore
import NIOHTTP1
import TestRandom
import Testing

@testable import CheckListener

@Suite("Connection state")
struct ConnectionStateTests {
    private static let fault = ConnectionFailure.request(.badRequest("No request."), .malformedRequest)

    /// A connection whose events the test chooses, by words. It writes down what follows from each.
    private struct Machine {
        var state = ConnectionState(limits: ConnectionLimits())
        var isTooOften = false

        /// The actions that follow from an event, and the phase that is entered.
        mutating func happens(_ event: String) -> String {
            let steps = steps(for: event)
            let actions = steps.map { Self.text($0.action) }.filter { $0 != "none" }
            let text = actions.isEmpty ? "none" : actions.joined(separator: ", ")
            return steps.compactMap(\.entered).last.map { "\(text) -> \($0)" } ?? text
        }

        mutating func steps(for event: String) -> [ConnectionState.Step] {
            switch event {
            case "end": return [received(.end(nil))]
            case "bytes":
                // Of a head that is not complete.
                let piece = try? withUnsafeBytes(of: UInt8(ascii: "P")) { try state.nextPiece(of: $0) }
                try? state.pieceEnded()
                return [ConnectionState.Step(action: .none, entered: piece?.entered)]
            case "unwritable", "writable": return [state.writabilityChanged(event == "writable")]
            case "resume":
                // The handler answers what was held.
                var steps: [ConnectionState.Step] = []
                let fault = rateFault
                while let step = state.nextHeld(rateLimit: { _ in fault }) { steps.append(step) }
                return steps + [state.caughtUp(hasUnparsedBytes: false)]
            case "no request": return [state.failed(ConnectionStateTests.fault)]
            case "TLS fails": return [state.failed(.tls)]
            case "connection fails": return [state.failed(.connection)]
            case "handshake": state.handshakeCompleted()
            case "input closed": return [state.inputClosed(hasUnparsedBytes: false)]
            case "held too much": return [state.heldTooMuch()]
            case "document begun": return [state.beginAwaitingDocument()]
            case "document made": return [state.endAwaitingDocument()]
            case "output ending": return [state.beginEndingOutput()]
            case "output sent": return [state.outputSent()]
            case "deadline": return [state.deadlineExpired()]
            case "evicted": return [state.evicted()]
            case "shutdown": state.beginShutdown()
            case "grace over": return [state.shutdownGraceExpired()]
            case "shutdown limit": return [state.shutdownLimitExpired()]
            case "too often": isTooOften = true
            default: return steps(for: event.split(separator: " ").map(String.init))
            }
            return []
        }

        /// Events with an argument: `get`, `post`, `body`, `discarded` and `limit`.
        private mutating func steps(for words: [String]) -> [ConnectionState.Step] {
            let number = words.last.flatMap { Int($0) } ?? 0
            switch words[0] {
            case "body": return [received(.body(ByteBuffer(repeating: 0x20, count: number)))]
            case "discarded": return [state.discarded(number)]
            case "limit":
                var limits = ConnectionLimits()
                limits.requestsPerConnection = number
                state = ConnectionState(limits: limits)
                return []
            default: return [received(.head(Self.head(words)))]
            }
        }

        private static func head(_ words: [String]) -> HTTPRequestHead {
            let version: HTTPVersion = words.contains("1.0") ? .http1_0 : .http1_1
            var head = HTTPRequestHead(version: version, method: .GET, uri: "/v1/check?bundle=a")
            if words[0] == "post" { (head.method, head.uri) = (.POST, "/v1/check") }
            if version == .http1_1, !words.contains("hostless") { head.headers.add(name: "Host", value: "a") }
            for word in words.dropFirst() {
                switch word {
                case "1.0", "hostless": break
                case "chunked": head.headers.add(name: "Transfer-Encoding", value: word)
                case "close", "keep-alive": head.headers.add(name: "Connection", value: word)
                case "continue": head.headers.add(name: "Expect", value: "100-continue")
                case let path where path.hasPrefix("/"): head.uri = path
                default: head.headers.add(name: "Content-Length", value: word)
                }
            }
            return head
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

    /// Plays each scenario of a text: below its name, indented, events with what follows from them, if anything does.
    private func play(_ scenarios: String) {
        var name = ""
        var machine = Machine()
        for line in scenarios.split(separator: "\n") {
            guard line.hasPrefix("    ") else {
                (name, machine) = (String(line), Machine())
                continue
            }
            for step in line.trimmingPrefix("    ").split(separator: " | ") {
                let parts = step.split(separator: ": ", maxSplits: 1).map(String.init)
                let happened = machine.happens(parts[0])
                #expect(happened == (parts.count == 2 ? parts[1] : "none"), "\(name): \(parts[0])")
            }
        }
    }

    @Test("The state follows from requests and failures")
    func follows() {
        play(
            """
            requests without a body are answered at their end
                get | end: answer implied -> idle | get | end: answer implied -> idle
            a body has a phase of its own
                bytes | post 30: none -> body | body 10 | body 20 | end: answer implied -> idle
            a head that begins between two requests has one too
                get | end: answer implied -> idle | bytes: none -> head | bytes | get | end: answer implied -> idle
            a client that waits for it is told to continue
                post continue 5: continue -> body | body 5
            an HTTP/1.0 client is told whether the connection stays open
                get 1.0 keep-alive | end: answer keepAlive -> idle | get 1.0 | end: answer close -> lingering
            what comes after the last answer is thrown away
                get close | end: answer close -> lingering | get | body 5 | end | no request
                discarded 8388608 | discarded 1: close
            the last request closes it
                limit 2 | get | end: answer implied -> idle | get | end: answer close -> lingering
            a request that is refused without a body is followed by others
                get /nothing: refuse 404 implied | end: none -> idle | get | end: answer implied -> idle
            the body of a refused request is read over
                post 99999: refuse 413 close -> body | body 5 | end: end -> lingering | input closed: close
            a body that grows too large is refused, and read over to a limit
                post chunked: none -> body | body 16384 | body 1: refuse 413 close -> body
                body 8388608 | body 1: close
            a head that can be read in two ways ends the connection
                get hostless: refuse 400 close malformedRequest, end -> lingering | end
            bytes that are no request end the connection, within a request too
                post 5: none -> body | no request: refuse 400 close malformedRequest, end -> lingering
            bytes that are no request are not answered where the request is refused already
                post 99999: refuse 413 close -> body | no request: end -> lingering
            a client that has sent all gets its last answer
                get | end: answer implied -> idle | input closed: end -> lingering | input closed: close
            a TLS handshake that fails is counted once
                TLS fails: close handshake | TLS fails: close
            TLS that fails later is not counted, nor is a connection that is gone
                handshake | TLS fails: close | connection fails: close
            """
        )
    }

    @Test("The state holds what comes while the client does not read")
    func holds() {
        play(
            """
            requests wait while the client reads no responses
                get | end: answer implied -> idle | unwritable: flush -> unread | unwritable | get | end
                get /nothing | end | writable: resume -> idle
                resume: answer implied, refuse 404 implied -> idle | resume
            a request that has begun goes on where it was
                post 5: none -> body | unwritable: flush -> unread | body 5 | end | writable: resume -> idle
                resume: answer implied -> idle
            a body that has begun has its time again
                post 5: none -> body | unwritable: flush -> unread | writable: resume -> body | resume
            what is no request is refused after those that came before it
                unwritable: flush -> unread | get | end | no request | writable: resume -> idle
                resume: answer implied, refuse 400 close malformedRequest, end -> lingering
            the output ends after what waited, where the client has sent all
                unwritable: flush -> unread | get | end | input closed | writable: resume -> idle
                resume: answer implied, end -> lingering
            the output ends when the last answer is read, where the client has sent all
                get | end: answer implied -> idle | unwritable: flush -> unread | input closed
                writable: resume -> idle | resume: end -> lingering | output ending: none -> unread
                unwritable: flush -> unread | writable: resume -> unread | resume | output sent: close -> lingering
            the last answer is waited for, where the client ends its side meanwhile
                get 1.0 | end: answer close -> lingering | output ending: none -> unread | input closed
                output sent: close -> lingering
            what comes after a document that is made is held until it is sent
                get | end: answer implied -> idle | document begun: none -> document | get | end
                unwritable: flush -> unread | writable: resume -> document | resume | input closed
                document made: resume -> idle | resume: answer implied, end -> lingering
            what waits is forgotten when the last response is written
                unwritable: flush -> unread | get 1.0 | end | get | end | writable: resume -> idle
                resume: answer close -> lingering
            a client that sends too much meanwhile is given up
                unwritable: flush -> unread | held too much: close unreadTimeout
            a connection that is gone is closed at once
                unwritable: flush -> unread | get | connection fails: close
            """
        )
    }

    @Test("The state ends what takes too long")
    func endsLate() {
        play(
            """
            a connection on which nothing comes
                deadline: close headerTimeout
            a head that has begun
                bytes | deadline: refuse 408 close headerTimeout, end -> lingering | deadline: close
            a body
                post 5: none -> body | deadline: refuse 408 close bodyTimeout, end -> lingering
            the body of a refused request
                post 99999: refuse 413 close -> body | deadline: close bodyTimeout
            the next request
                get | end: answer implied -> idle | deadline: close idleTimeout
            responses that are not read
                unwritable: flush -> unread | deadline: close unreadTimeout
            a document that is not made
                get | end: answer implied -> idle | document begun: none -> document | deadline: give up
                document made: resume -> idle
            the last answer, which is not read
                get 1.0 | end: answer close -> lingering | output ending: none -> unread
                deadline: close unreadTimeout
            room for another connection
                evicted: flush, close evicted
            a shutdown between two requests
                shutdown | grace over: flush, close
            a shutdown within a request, whose answer is the last
                post 5: none -> body | shutdown | grace over | body 5 | end: answer close -> lingering
                shutdown limit: flush, close
            """
        )
    }

    @Test("The state refuses requests that come too often at their end, and ends the connection with the 16th in a row")
    func rateLimit() {
        let often = "    post 5: none -> body | body 5 | end: refuse 429 implied -> idle\n"
        play(
            "requests that come too often\n    too often\n" + String(repeating: often, count: 14)
                + "    get /nothing: refuse 429 implied | end: none -> idle | get | end: refuse 429 close, end -> lingering"
        )
    }

    @Test("The state is idle between two requests, and before the first one begins")
    func isIdle() {
        var machine = Machine()
        #expect(machine.state.isIdle)
        for (event, isIdle) in [
            ("bytes", false), ("get", false), ("end", true), ("bytes", false), ("post 5", false), ("body 5", false),
            ("end", true), ("unwritable", false), ("writable", true), ("input closed", false),
        ] {
            _ = machine.happens(event)
            #expect(machine.state.isIdle == isIdle, "\(event)")
        }
    }

    @Test(
        "The state answers each request at most once, in whatever order events come, and nothing after the last response"
    )
    func anyOrder() {
        var random = SeededGenerator()
        let seed = random.seed
        let events = [
            "get", "get", "get /nothing", "post 5", "post 99999", "get 1.0", "body 5", "body 9000", "end", "end", "end",
            "bytes", "unwritable", "writable", "resume", "resume", "no request", "input closed", "document begun",
            "document made", "deadline", "evicted", "shutdown", "grace over",
        ]
        for _ in 0..<500 {
            var machine = Machine()
            var heads = 0
            var responses = 0
            var hasEnded = false
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let event = random.pick(events)
                if event.hasPrefix("get") || event.hasPrefix("post") { heads += 1 }
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
