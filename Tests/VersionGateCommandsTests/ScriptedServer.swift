import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An HTTP server on a port of 127.0.0.1 that answers as a test says, and remembers what it was asked.
final class ScriptedServer: Sendable {
    /// What it was asked.
    struct Request: Sendable {
        let method: HTTPMethod
        let target: String
        var headers: HTTPHeaders
        var body: String
    }

    /// What it does.
    enum Answer: Sendable {
        case response(HTTPResponseStatus, HTTPHeaders = [:], String = "")
        /// The connection stays open and nothing comes.
        case silence
        /// The connection ends without an answer.
        case end
    }

    private struct State {
        var requests: [Request] = []
        var script: [Answer] = []
    }

    private let state = Mutex(State())
    private let otherwise: @Sendable (Request) -> Answer

    private init(_ otherwise: @escaping @Sendable (Request) -> Answer) {
        self.otherwise = otherwise
    }

    /// Runs a server, and gives it and its port to `body`.
    ///
    /// - Parameter otherwise: What it answers when its script is at an end.
    static func run(
        answering otherwise: @escaping @Sendable (Request) -> Answer,
        _ body: @Sendable (ScriptedServer, Int) async throws -> Void
    ) async throws {
        let server = ScriptedServer(otherwise)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            guard let port = channel.localAddress?.port else {
                throw ServingBinaryError.unexpectedAnswer("a listener without a port")
            }
            try await body(server, port)
        } catch {
            try await channel.close()
            throw error
        }
        try await channel.close()
    }

    /// Sets what it answers to the next requests, one after the other.
    func answer(_ script: Answer...) {
        state.withLock { $0.script = script }
    }

    /// What it was asked since this was last called.
    func takeRequests() -> [Request] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    private func take(_ request: Request) -> Answer {
        state.withLock { state in
            state.requests.append(request)
            return state.script.isEmpty ? otherwise(request) : state.script.removeFirst()
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let server: ScriptedServer
        private var request: Request?

        init(_ server: ScriptedServer) {
            self.server = server
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                request = Request(method: head.method, target: head.uri, headers: head.headers, body: "")
            case .body(let bytes): request?.body += String(buffer: bytes)
            case .end:
                guard let request else { return }
                answer(request, context)
            }
        }

        private func answer(_ request: Request, _ context: ChannelHandlerContext) {
            switch server.take(request) {
            case .silence: return
            case .end: context.close(promise: nil)
            case .response(let status, var headers, let body):
                if status.mayHaveResponseBody {
                    headers.replaceOrAdd(name: "Content-Length", value: "\(body.utf8.count)")
                }
                let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                if !body.isEmpty {
                    context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
                }
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
