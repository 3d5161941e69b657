// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Glibc
import NIOCore
import NIOHTTP1

/// The HTTP/1.1 parser of a connection, and what has to be measured on the bytes that it reads.
///
/// It tells a request line that is too long from header fields that are, notices that a head has begun, bounds what a
/// chunked body may carry besides its content, keeps bytes unparsed while the client leaves its responses unread, and
/// throws away what comes after the end of the connection.
final class PublicRequestDecoder: ByteToMessageDecoder {
    typealias InboundOut = HTTPServerRequestPart

    private let parser: HTTPRequestDecoder
    private let handler: PublicRequestHandler
    private let maximumRequestLineBytes: Int
    private var context: ChannelHandlerContext?
    private var isParsing = false
    /// Whether the bytes could not be parsed, so that nothing after them can be.
    private var hasFailed = false
    /// Bytes that the parser has seen and wants to see again.
    private var retainedBytes = 0
    /// Bytes that arrived while the client left its responses unread, after those that the parser wants to see again.
    private var heldBytes = ByteBuffer()
    /// Whether the client has sent all it will send, and the parser was not told yet.
    private var holdsEndOfInput = false
    /// Bytes of the request line that is arriving; nil when it is complete.
    private var requestLineBytes: Int? = 0
    /// Bytes of the body that is arriving, the framing of its chunks included.
    private var bodyBytes = 0

    /// How many bytes of a chunked body may be chunk sizes, extensions and trailers.
    ///
    /// A chunk has at least five, so there are at most about 200 chunks: each costs about as much as a short request.
    private static let maximumChunkOverhead = 1_024

    /// The most bytes that the parser is given at once: how far it may run ahead of what is answered.
    private static let pieceBytes = 4_096

    /// The most bytes that are kept of a client that leaves its responses unread.
    ///
    /// While it does, nothing is read from the socket; but when the client has closed the connection, all that is left
    /// in the socket's receive buffer arrives at once.
    private static let maximumHeldBytes = 262_144

    private static let tooMuchBesidesContent = RequestFault.badRequest(
        "The chunked body has too many chunks, extensions or trailers; send Content-Length or larger chunks."
    )

    init(limits: ConnectionLimits, handler: PublicRequestHandler) {
        var parserLimits = NIOHTTPDecoderLimitConfiguration()
        parserLimits.maxHeaderFieldSize = limits.headerBytes
        parserLimits.maxHeaderListSize = limits.headerBytes
        parserLimits.maxHeaderFieldCount = limits.headerFields
        parser = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: parserLimits)
        self.handler = handler
        maximumRequestLineBytes = limits.requestLineBytes
        handler.decoder = self
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
        } else if heldBytes.readableBytes > 0 || isParsing || handler.isHoldingRequests {
            hold(&buffer)
            if !isParsing, !handler.isHoldingRequests {
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
            if !handler.isHoldingRequests {
                parseHeldBytes()
            }
        }
        return .needMoreData
    }

    // MARK: What waits until the client reads

    /// Whether ``parseHeldBytes()`` has something to do.
    var hasUnparsedBytes: Bool {
        !isParsing && !isDiscarding && (heldBytes.readableBytes > retainedBytes || holdsEndOfInput)
    }

    /// Parses what was held back, until the client leaves its responses unread again.
    func parseHeldBytes() {
        guard !isParsing, !isDiscarding else { return }
        var bytes = heldBytes
        heldBytes = ByteBuffer()
        parse(&bytes)
        bytes.writeBuffer(&heldBytes)
        if isDiscarding {
            dropHeldBytes()
        } else if bytes.readableBytes == retainedBytes, holdsEndOfInput, !handler.isUnread {
            finish(&bytes)
            dropHeldBytes()
        } else {
            heldBytes = bytes
        }
    }

    /// Forgets what was held back.
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
            handler.abandon()
            dropHeldBytes()
        }
    }

    // MARK: Parsing

    private var isDiscarding: Bool { hasFailed || !handler.acceptsRequests }

    private func discard(_ buffer: inout ByteBuffer) {
        let count = buffer.readableBytes
        buffer.moveReaderIndex(to: buffer.writerIndex)
        if count > 0 {
            handler.didDiscard(count)
        }
    }

    /// Gives the parser what it has not seen, piece by piece, as long as what it makes of it is answered.
    private func parse(_ buffer: inout ByteBuffer) {
        guard let context else { return }
        isParsing = true
        while buffer.readableBytes > retainedBytes, !isDiscarding, !handler.isUnread {
            let length = retainedBytes + Self.pieceBytes
            if buffer.readableBytes <= length {
                parsePiece(&buffer, context: context)
            } else if var piece = buffer.getSlice(at: buffer.readerIndex, length: length) {
                parsePiece(&piece, context: context)
                buffer.moveReaderIndex(forwardBy: length - piece.readableBytes)
            }
        }
        isParsing = false
    }

    private func parsePiece(_ piece: inout ByteBuffer, context: ChannelHandlerContext) {
        let receivedBytes = piece.readableBytes - retainedBytes
        do {
            try measureRequestLine(piece, receivedBytes: receivedBytes)
            let headCount = handler.headCount
            _ = try parser.decode(context: context, buffer: &piece)
            retainedBytes = piece.readableBytes
            try noteProgress(receivedBytes: receivedBytes, isNewRequest: handler.headCount != headCount)
        } catch {
            fail(error, context: context)
        }
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
        if case HTTPParserError.headerOverflow = error, !handler.isBetweenRequests {
            context.fireErrorCaught(Self.tooMuchBesidesContent)
        } else {
            context.fireErrorCaught(error)
        }
    }

    private func measureRequestLine(_ buffer: ByteBuffer, receivedBytes: Int) throws(RequestFault) {
        guard handler.isBetweenRequests, let before = requestLineBytes else { return }
        let lengthToEnd = buffer.withUnsafeReadableBytes { bytes -> Int? in
            let received = bytes.suffix(receivedBytes)
            guard let start = UnsafeRawBufferPointer(rebasing: received).baseAddress,
                let end = memchr(start, 0x0A, received.count)
            else { return nil }
            return start.distance(to: UnsafeRawPointer(end))
        }
        let length = before + (lengthToEnd ?? receivedBytes)
        requestLineBytes = lengthToEnd == nil ? length : nil
        guard length <= maximumRequestLineBytes else {
            throw RequestFault(
                .uriTooLong,
                "The request line is longer than \(maximumRequestLineBytes) bytes. Use POST for longer descriptions."
            )
        }
    }

    private func noteProgress(receivedBytes: Int, isNewRequest: Bool) throws(RequestFault) {
        if isNewRequest {
            requestLineBytes = 0
            bodyBytes = 0
            if handler.isBetweenRequests, retainedBytes > 0 {
                handler.headBegan()
            }
        } else if handler.isBetweenRequests {
            handler.headBegan()
        } else {
            bodyBytes += receivedBytes
            guard bodyBytes - handler.contentBytes <= Self.maximumChunkOverhead else {
                throw Self.tooMuchBesidesContent
            }
        }
    }
}
