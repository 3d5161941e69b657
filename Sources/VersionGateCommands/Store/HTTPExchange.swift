import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One request and its answer, over a connection of its own. Redirections are not followed, and no proxy is asked.
struct HTTPExchange {
    struct Address {
        let isSecure: Bool
        let host: String
        let port: Int
        var path: String

        init?(_ text: String) {
            guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty,
                let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme)
            else { return nil }
            isSecure = scheme == "https"
            self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            port = parts.port ?? (isSecure ? 443 : 80)
            path = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
        }
    }

    struct Response: Sendable {
        var status = HTTPResponseStatus.ok
        var headers = HTTPHeaders()
        var body = ByteBuffer()

        var location: String? {
            (300..<400).contains(status.code) ? headers.first(name: "Location")?.cut() : nil
        }

        var statusText: String { "\(status.code) \(status.reasonPhrase.cut())" }
    }

    enum Failure: Error {
        case closed, late, large
    }

    let address: Address
    let method: HTTPMethod
    let headers: HTTPHeaders
    let body: String
    let limit: TimeAmount
    var tls = TLSConfiguration.makeClientConfiguration()
    var largestBody = 16 << 20

    func answer() async throws -> Response {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let deadline = NIODeadline.now() + limit
        let answer = eventLoop.makePromise(of: Response.self)
        let tls = address.isSecure ? try NIOSSLContext(configuration: self.tls) : nil
        let bootstrap = ClientBootstrap(group: eventLoop).connectTimeout(limit).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if let tls { try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: nameForTLS)) }
                try pipeline.addHTTPClientHandlers()
                try pipeline.addHandler(AnswerCollector(answer, upTo: largestBody))
            }
        }
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: address.path, headers: headers)
        if !headers.contains(name: "Host") { head.headers.add(name: "Host", value: hostField) }
        head.headers.add(name: "Connection", value: "close")
        if method != .GET, method != .HEAD { head.headers.add(name: "Content-Length", value: "\(body.utf8.count)") }
        let channel: any Channel
        do {
            // The event loop sends the request itself: servers do not wait for one that a busy process sends late.
            channel = try await bootstrap.connect(host: address.host, port: address.port).map { [head] channel in
                channel.write(HTTPClientRequestPart.head(head), promise: nil)
                channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(string: body))), promise: nil)
                channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
                return channel
            }.get()
        } catch {
            answer.fail(error)
            if case ChannelError.connectTimeout = error { throw Failure.late }
            throw error
        }
        let timer = eventLoop.scheduleTask(deadline: deadline) { answer.fail(Failure.late) }
        defer {
            timer.cancel()
            channel.close(promise: nil)
        }
        return try await answer.futureResult.get()
    }

    /// The name that the certificate must be for; `nil` for an address, which is compared as such.
    private var nameForTLS: String? {
        (try? SocketAddress(ipAddress: address.host, port: 0)) == nil ? address.host : nil
    }

    private var hostField: String {
        let host = address.host.contains(":") ? "[\(address.host)]" : address.host
        return address.port == (address.isSecure ? 443 : 80) ? host : "\(host):\(address.port)"
    }
}

private final class AnswerCollector: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let promise: EventLoopPromise<HTTPExchange.Response>
    private let largestBody: Int
    private var answer = HTTPExchange.Response()

    init(_ promise: EventLoopPromise<HTTPExchange.Response>, upTo largestBody: Int) {
        self.promise = promise
        self.largestBody = largestBody
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (answer.status, answer.headers) = (head.status, head.headers)
        case .body(var bytes):
            answer.body.writeBuffer(&bytes)
            if answer.body.readableBytes > largestBody { promise.fail(HTTPExchange.Failure.large) }
        case .end: promise.succeed(answer)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(HTTPExchange.Failure.closed)
        context.fireChannelInactive()
    }
}

extension String {
    func cut(_ most: Int = 200) -> String { count > most ? prefix(most) + "..." : self }
}

extension SingleConnectionFailure {
    var reason: String {
        guard let error = error as? IOError else { return "\(error)" }
        return String(cString: strerror(error.errnoCode))
    }
}
