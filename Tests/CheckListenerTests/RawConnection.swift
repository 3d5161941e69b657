import NIOCore
import NIOPosix

/// A TCP connection of a test: sends any bytes, and reads responses without asking for more than HTTP framing.
struct RawConnection {
    /// One response, taken apart.
    struct Response: Equatable {
        var status: Int
        /// Names in lower case.
        var headers: [String: String]
        var body: String

        init(status: Int, headers: [String: String], body: String) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        /// Takes a text apart; all behind the head is the body. nil where the head is not whole.
        init?(_ text: String) {
            guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
            let lines = text[..<end.lowerBound].split(separator: "\r\n")
            status = Int(lines[0].split(separator: " ")[1]) ?? 0
            headers = [:]
            for line in lines.dropFirst() {
                let halves = line.split(separator: ":", maxSplits: 1)
                headers[halves[0].lowercased()] = halves[1].trimmingPrefix(" ").description
            }
            body = String(text[end.upperBound...])
        }
    }

    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var received = ByteBuffer()

    /// Connects, gives the connection to `body`, and closes it.
    ///
    /// - Parameters:
    ///   - address: Where to.
    ///   - source: The address of this end; nil lets the system choose.
    ///   - body: What to do.
    static func with<Result: Sendable>(
        _ address: SocketAddress,
        from source: String? = nil,
        _ body: @Sendable (inout RawConnection) async throws -> Result
    ) async throws -> Result {
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
        if let source {
            bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: source, port: 0))
        }
        let channel =
            try await bootstrap
            .connect(to: address) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true)
                    )
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var connection = RawConnection(inbound: inbound.makeAsyncIterator(), outbound: outbound)
            return try await body(&connection)
        }
    }

    private init(
        inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        self.inbound = inbound
        self.outbound = outbound
    }

    /// Sends text as it is.
    func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    /// Sends bytes as they are.
    func send(_ bytes: [UInt8]) async throws {
        try await outbound.write(ByteBuffer(bytes: bytes))
    }

    /// Reads one response; nil when the server ended the connection instead.
    ///
    /// - Parameter toHead: Whether the request was HEAD, so that no body follows.
    mutating func response(toHead: Bool = false) async throws -> Response? {
        while true {
            if let response = parse(toHead: toHead) { return response }
            guard var more = try await inbound.next(isolation: #isolation) else { return nil }
            received.writeBuffer(&more)
        }
    }

    /// Whether the server ends the connection, with nothing more sent.
    mutating func isEnded() async throws -> Bool {
        guard received.readableBytes == 0 else { return false }
        do {
            return try await inbound.next(isolation: #isolation) == nil
        } catch is IOError {
            return true
        }
    }

    /// Says that nothing more is sent.
    func finish() {
        outbound.finish()
    }

    private mutating func parse(toHead: Bool) -> Response? {
        let text = String(buffer: received)
        guard var response = Response(text) else { return nil }
        let head = text.utf8.count - response.body.utf8.count
        let length = response.status == 100 || toHead ? 0 : Int(response.headers["content-length"] ?? "") ?? 0
        guard received.readableBytes >= head + length else { return nil }
        received.moveReaderIndex(forwardBy: head)
        response.body = received.readString(length: length) ?? ""
        return response
    }
}
