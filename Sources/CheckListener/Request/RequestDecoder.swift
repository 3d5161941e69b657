// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1

/// The HTTP/1.1 parser of a connection, which stops where requests are no longer answered.
///
/// While the client leaves its responses unread, it holds bytes unparsed; after the last response it discards them.
final class RequestDecoder: ByteToMessageDecoder {
    typealias InboundOut = HTTPServerRequestPart

    private let parser: HTTPRequestDecoder
    private let connection: ConnectionHandler
    private var context: ChannelHandlerContext?
    private var isParsing = false
    /// Whether the bytes could not be parsed, so that nothing after them can be.
    private var hasFailed = false
    /// Bytes that the parser has seen and wants to see again.
    private var retainedBytes = 0
    /// Bytes that are held, after those that the parser wants to see again.
    private var heldBytes = ByteBuffer()
    /// Whether the client has closed its output and the parser has not seen that yet.
    private var holdsEndOfInput = false

    /// The most bytes that are kept of a client that leaves its responses unread.
    ///
    /// While it does, nothing is read from the socket; but when the client has closed the connection, all that is left
    /// in the socket's receive buffer arrives at once.
    private static let maximumHeldBytes = 262_144

    /// Creates the parser of a connection.
    init(limits: ConnectionLimits, connection: ConnectionHandler) {
        var parserLimits = NIOHTTPDecoderLimitConfiguration()
        parserLimits.maxHeaderFieldSize = limits.headerBytes
        parserLimits.maxHeaderListSize = limits.headerBytes
        parserLimits.maxHeaderFieldCount = limits.headerFields
        parser = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: parserLimits)
        self.connection = connection
    }

    func decoderAdded(context: ChannelHandlerContext) {
        self.context = context
        parser.decoderAdded(context: context)
    }

    func decoderRemoved(context: ChannelHandlerContext) {
        parser.decoderRemoved(context: context)
        self.context = nil
    }

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        if isDiscarding {
            discard(&buffer)
        } else if heldBytes.readableBytes > 0 || isParsing || connection.state.isHoldingRequests {
            hold(&buffer)
            if !isParsing, !connection.state.isHoldingRequests {
                parseHeldBytes()
            }
        } else {
            parse(&buffer)
            if isDiscarding {
                discard(&buffer)
            } else if buffer.readableBytes > retainedBytes {
                hold(&buffer)
            }
        }
        return .needMoreData
    }

    func decodeLast(
        context: ChannelHandlerContext,
        buffer: inout ByteBuffer,
        seenEOF: Bool
    ) throws -> DecodingState {
        _ = try decode(context: context, buffer: &buffer)
        if isDiscarding || !context.channel.isActive {
            dropHeldBytes()
            buffer.moveReaderIndex(to: buffer.writerIndex)
        } else {
            hold(&buffer)
            holdsEndOfInput = true
            if !connection.state.isHoldingRequests {
                parseHeldBytes()
            }
        }
        return .needMoreData
    }

    // MARK: Held bytes

    /// Whether ``parseHeldBytes()`` has something to do.
    var hasUnparsedBytes: Bool {
        !isParsing && !isDiscarding && (heldBytes.readableBytes > retainedBytes || holdsEndOfInput)
    }

    /// Parses held bytes until the client leaves its responses unread again.
    func parseHeldBytes() {
        guard !isParsing, !isDiscarding else { return }
        var bytes = heldBytes
        heldBytes = ByteBuffer()
        parse(&bytes)
        bytes.writeBuffer(&heldBytes)
        if isDiscarding {
            dropHeldBytes()
        } else if bytes.readableBytes == retainedBytes, holdsEndOfInput, !connection.state.isWaiting {
            finish(&bytes)
            dropHeldBytes()
        } else {
            heldBytes = bytes
        }
    }

    /// Discards held bytes.
    func dropHeldBytes() {
        heldBytes = ByteBuffer()
        retainedBytes = 0
        holdsEndOfInput = false
    }

    private func hold(_ buffer: inout ByteBuffer) {
        heldBytes.discardReadBytes()
        heldBytes.writeImmutableBuffer(buffer)
        buffer.moveReaderIndex(to: buffer.writerIndex)
        if heldBytes.readableBytes > Self.maximumHeldBytes {
            connection.didHoldTooMuch()
            dropHeldBytes()
        }
    }

    // MARK: Parsing

    private var isDiscarding: Bool { hasFailed || !connection.state.acceptsRequests }

    private func discard(_ buffer: inout ByteBuffer) {
        let count = buffer.readableBytes
        buffer.moveReaderIndex(to: buffer.writerIndex)
        if count > 0 {
            connection.didDiscard(count)
        }
    }

    /// Gives the parser what it has not seen, piece by piece, as long as what it makes of it is answered.
    private func parse(_ buffer: inout ByteBuffer) {
        guard let context else { return }
        isParsing = true
        while buffer.readableBytes > retainedBytes, !isDiscarding, !connection.state.isWaiting {
            do {
                try parsePiece(of: &buffer, context: context)
            } catch {
                fail(error, context: context)
            }
        }
        isParsing = false
    }

    private func parsePiece(of buffer: inout ByteBuffer, context: ChannelHandlerContext) throws {
        let length =
            retainedBytes
            + (try buffer.withUnsafeReadableBytes { bytes in
                try connection.nextPiece(of: UnsafeRawBufferPointer(rebasing: bytes[retainedBytes...]))
            })
        if length == buffer.readableBytes {
            _ = try parser.decode(context: context, buffer: &buffer)
            retainedBytes = buffer.readableBytes
        } else if var piece = buffer.getSlice(at: buffer.readerIndex, length: length) {
            _ = try parser.decode(context: context, buffer: &piece)
            retainedBytes = piece.readableBytes
            buffer.moveReaderIndex(forwardBy: length - retainedBytes)
        }
        try connection.didParse()
    }

    /// Tells the parser that nothing more will come.
    private func finish(_ buffer: inout ByteBuffer) {
        guard let context else { return }
        do {
            _ = try parser.decodeLast(context: context, buffer: &buffer, seenEOF: true)
        } catch {
            fail(error, context: context)
        }
    }

    private func fail(_ error: any Error, context: ChannelHandlerContext) {
        hasFailed = true
        if case HTTPParserError.headerOverflow = error, !connection.state.meter.isBetweenRequests {
            context.fireErrorCaught(RequestMeter.chunkOverheadFault)
        } else {
            context.fireErrorCaught(error)
        }
    }
}
