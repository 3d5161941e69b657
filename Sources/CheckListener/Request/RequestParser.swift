import NIOCore
import NIOHTTP1

/// The HTTP/1.1 parser of a connection, and the bytes that it has not parsed yet.
///
/// It parses a piece only when it is told to, and hands over what it has made of it. So whoever tells it decides how far
/// it runs ahead of what is answered.
final class RequestParser {
    /// What was parsed, and why nothing more can be.
    typealias Parsed = (parts: [HTTPServerRequestPart], error: (any Error)?)

    private let decoder: HTTPRequestDecoder
    private let parts = PartCollector()
    private var bytes = ByteBuffer()
    /// How many of the bytes the parser has seen and wants to see again.
    private var seenBytes = 0
    /// Whether the client has sent all it will send, and the parser was not told yet.
    private var holdsEndOfInput = false
    /// Whether the bytes could not be parsed, so that nothing after them can be.
    private(set) var hasFailed = false

    /// Creates the parser of a connection.
    init(limits: ConnectionLimits) {
        var parserLimits = NIOHTTPDecoderLimitConfiguration()
        parserLimits.maxHeaderFieldSize = limits.headerBytes
        parserLimits.maxHeaderListSize = limits.headerBytes
        parserLimits.maxHeaderFieldCount = limits.headerFields
        decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: parserLimits)
    }

    /// Begins to work for the handler with a context, behind which it takes what the parser says.
    func add(to context: ChannelHandlerContext) throws {
        try context.pipeline.syncOperations.addHandler(parts, position: .after(context.handler))
        decoder.decoderAdded(context: context)
    }

    /// Ends what ``add(to:)`` began.
    func remove(from context: ChannelHandlerContext) {
        decoder.decoderRemoved(context: context)
    }

    // MARK: Bytes

    /// How many bytes there are.
    var byteCount: Int { bytes.readableBytes }

    /// Whether there is anything that the parser has not seen, the end of the input included.
    var hasUnparsedBytes: Bool { !hasFailed && (bytes.readableBytes > seenBytes || holdsEndOfInput) }

    /// Takes over bytes that have arrived.
    func append(_ arrived: ByteBuffer) {
        if bytes.readableBytes == 0 {
            bytes = arrived
        } else {
            bytes.discardReadBytes()
            bytes.writeImmutableBuffer(arrived)
        }
    }

    /// Hands the bytes to another reader, which removes what it reads; the rest is parsed.
    ///
    /// - Returns: Whether it read anything.
    func lend(_ read: (inout ByteBuffer) -> Bool) -> Bool {
        var lent = ByteBuffer()
        swap(&lent, &bytes)
        defer { bytes = lent }
        return read(&lent)
    }

    /// The client has sent all it will send.
    func endInput() {
        holdsEndOfInput = true
    }

    /// Forgets all bytes.
    ///
    /// - Returns: How many there were.
    @discardableResult
    func removeAll() -> Int {
        let count = bytes.readableBytes
        bytes = ByteBuffer()
        seenBytes = 0
        holdsEndOfInput = false
        return count
    }

    // MARK: Parsing

    /// Parses nothing more.
    func stop() {
        hasFailed = true
    }

    /// Parses the next piece, or the end of the input.
    ///
    /// - Parameter measure: Is given the bytes that the parser has not seen; returns how many of them the piece has.
    func parse(
        _ context: ChannelHandlerContext,
        measure: (UnsafeRawBufferPointer) throws(RequestFault) -> Int
    ) -> Parsed {
        do {
            if bytes.readableBytes > seenBytes {
                try parsePiece(context, measure)
            } else {
                var rest = bytes
                removeAll()
                _ = try decoder.decodeLast(context: context, buffer: &rest, seenEOF: true)
            }
        } catch {
            parts.fail(error)
        }
        let parsed = parts.takeAll()
        if parsed.error != nil { hasFailed = true }
        return parsed
    }

    private func parsePiece(
        _ context: ChannelHandlerContext,
        _ measure: (UnsafeRawBufferPointer) throws(RequestFault) -> Int
    ) throws {
        let unseen = try bytes.withUnsafeReadableBytes { bytes in
            try measure(UnsafeRawBufferPointer(rebasing: bytes[seenBytes...]))
        }
        let length = seenBytes + unseen
        if length == bytes.readableBytes {
            // The parts refer to these bytes, so that nothing is copied.
            var piece = ByteBuffer()
            swap(&piece, &bytes)
            defer { bytes = piece.readableBytes > 0 ? piece : ByteBuffer() }
            _ = try decoder.decode(context: context, buffer: &piece)
            seenBytes = piece.readableBytes
        } else if var piece = bytes.getSlice(at: bytes.readerIndex, length: length) {
            _ = try decoder.decode(context: context, buffer: &piece)
            seenBytes = piece.readableBytes
            bytes.moveReaderIndex(forwardBy: length - seenBytes)
        }
    }
}

/// Stands behind the handler of a connection in its pipeline, where swift-nio's parser hands over what it has parsed.
private final class PartCollector: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private var parsed: RequestParser.Parsed = ([], nil)

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        parsed.parts.append(unwrapInboundIn(data))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(error)
    }

    /// Nothing more can be parsed; the first reason counts.
    func fail(_ error: any Error) {
        if parsed.error == nil { parsed.error = error }
    }

    /// Hands over what was parsed.
    func takeAll() -> RequestParser.Parsed {
        let all = parsed
        parsed = ([], nil)
        return all
    }
}
