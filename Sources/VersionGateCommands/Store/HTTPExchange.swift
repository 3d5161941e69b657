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

    enum Failure: Error {
        case closed, late
    }

    let address: Address
    var method = HTTPMethod.GET
    let headers: HTTPHeaders
    var body = ""
    let limit: TimeAmount
    var tls = TLSConfiguration.makeClientConfiguration()
    var largestBody = 16 << 20

    func answer() async throws -> NIOHTTPClientResponseFull {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let deadline = NIODeadline.now() + limit
        let tls = address.isSecure ? try NIOSSLContext(configuration: self.tls) : nil
        let answer = eventLoop.makePromise(of: NIOHTTPClientResponseFull.self)
        let bootstrap = ClientBootstrap(group: eventLoop).connectTimeout(limit).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if let tls { try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: nameForTLS)) }
                try pipeline.addHTTPClientHandlers()
                try pipeline.addHandler(NIOHTTPClientResponseAggregator(maxContentLength: largestBody))
                try pipeline.addHandler(AnswerHandler(promise: answer))
            }
        }
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: address.path, headers: headers)
        if !headers.contains(name: "Host") { head.headers.add(name: "Host", value: hostField) }
        head.headers.add(name: "Connection", value: "close")
        if method != .GET, method != .HEAD { head.headers.add(name: "Content-Length", value: "\(body.utf8.count)") }
        // The event loop sends the request itself: servers do not wait for one that a busy process sends late.
        let channel = bootstrap.connect(host: address.host, port: address.port).map { [head] channel in
            channel.write(HTTPClientRequestPart.head(head), promise: nil)
            channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(string: body))), promise: nil)
            channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
            return channel
        }
        channel.whenFailure { answer.fail($0) }
        let timer = eventLoop.scheduleTask(deadline: deadline) { answer.fail(Failure.late) }
        defer {
            timer.cancel()
            channel.whenSuccess { $0.close(promise: nil) }
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

private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPClientResponseFull

    private let promise: EventLoopPromise<NIOHTTPClientResponseFull>

    init(promise: EventLoopPromise<NIOHTTPClientResponseFull>) { self.promise = promise }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { promise.succeed(unwrapInboundIn(data)) }

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
