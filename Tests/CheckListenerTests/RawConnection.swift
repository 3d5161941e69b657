import NIOCore
import NIOPosix
import Testing

/// One response, taken apart by nothing but HTTP framing.
struct HTTPResponse: Equatable {
    var status: Int
    /// Names in lower case.
    var headers: [String: String] = [:]
    var body: String

    /// Takes the first response off some bytes; nil where it is not whole.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - toHead: Whether the request was HEAD, so that no body follows.
    init?(takenFrom bytes: inout ByteBuffer, toHead: Bool = false) {
        let view = bytes.readableBytesView
        guard let end = view.firstRange(of: "\r\n\r\n".utf8) else { return nil }
        let lines = String(decoding: view[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        status = Int(lines[0].split(separator: " ")[1]) ?? 0
        for line in lines.dropFirst() {
            let halves = line.split(separator: ":", maxSplits: 1)
            headers[halves[0].lowercased()] = halves[1].trimmingPrefix(" ").description
        }
        let head = view.distance(from: view.startIndex, to: end.upperBound)
        let length = status == 100 || toHead ? 0 : Int(headers["content-length"] ?? "") ?? 0
        guard bytes.readableBytes >= head + length else { return nil }
        bytes.moveReaderIndex(forwardBy: head)
        body = bytes.readString(length: length) ?? ""
    }
}

extension [HTTPResponse] {
    /// The status of each, and what it says of the connection: `200 | 400 close`.
    var summary: String {
        map { "\($0.status)" + ($0.headers["connection"].map { " \($0)" } ?? "") }.joined(separator: " | ")
    }
}

/// A TCP connection of a test: sends any bytes, and reads responses.
struct RawConnection {
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
        if let source { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: source, port: 0)) }
        let channel = try await bootstrap.connect(to: address) { channel in
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
    func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

    /// Sends bytes as they are.
    func send(_ bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }

    /// Says that nothing more is sent.
    func finish() { outbound.finish() }

    /// Reads one response; nil when the server ended the connection instead.
    ///
    /// - Parameter toHead: Whether the request was HEAD, so that no body follows.
    mutating func response(toHead: Bool = false) async throws -> HTTPResponse? {
        while true {
            if let response = HTTPResponse(takenFrom: &received, toHead: toHead) { return response }
            guard var more = try await inbound.next(isolation: #isolation) else { return nil }
            received.writeBuffer(&more)
        }
    }

    /// Sends a request and reads its response; nil when the server ended the connection instead.
    mutating func ask(_ request: String) async throws -> HTTPResponse? {
        try await send(request)
        return try await response(toHead: request.hasPrefix("HEAD"))
    }

    /// Sends a request, and expects the status of its response.
    mutating func expect(
        _ status: Int,
        to request: String = ListenerFixture.get,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let response = try await ask(request)
        #expect(response?.status == status, sourceLocation: sourceLocation)
    }

    /// Reads all responses, up to the end of the connection.
    ///
    /// - Parameter toHead: Whether the first request was HEAD.
    mutating func responses(toHead: Bool = false) async throws -> [HTTPResponse] {
        var responses: [HTTPResponse] = []
        while let response = try await response(toHead: toHead && responses.isEmpty) { responses.append(response) }
        return responses
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
}
