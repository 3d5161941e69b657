// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Glibc
import NIOCore
import NIOHTTP1

/// The HTTP/1.1 parser of a connection, and what has to be measured on the bytes that it reads.
///
/// It tells a request line that is too long from header fields that are, notices that a head has begun, bounds what a
/// chunked body may carry besides its content, and throws away what comes after the end of the connection.
struct PublicRequestDecoder: ByteToMessageDecoder {
    typealias InboundOut = HTTPServerRequestPart

    private let parser: HTTPRequestDecoder
    private let handler: PublicRequestHandler
    private let maximumRequestLineBytes: Int
    /// Bytes that the parser has seen and wants to see again.
    private var retainedBytes = 0
    /// Bytes of the request line that is arriving; nil when it is complete.
    private var requestLineBytes: Int? = 0
    /// Bytes of the chunked body that is arriving, its framing included.
    private var chunkedBytes = 0

    /// How many bytes of chunk sizes, extensions and trailers are read besides eight for each byte of content.
    private static let maximumChunkOverhead = 1_024

    private static let tooMuchBesidesContent = RequestFault.badRequest(
        "The chunked body has too many bytes of extensions or trailers; send none."
    )

    init(limits: ConnectionLimits, handler: PublicRequestHandler) {
        var parserLimits = NIOHTTPDecoderLimitConfiguration()
        parserLimits.maxHeaderFieldSize = limits.headerBytes
        parserLimits.maxHeaderListSize = limits.headerBytes
        parserLimits.maxHeaderFieldCount = limits.headerFields
        parser = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: parserLimits)
        self.handler = handler
        maximumRequestLineBytes = limits.requestLineBytes
    }

    func decoderAdded(context: ChannelHandlerContext) {
        parser.decoderAdded(context: context)
    }

    func decoderRemoved(context: ChannelHandlerContext) {
        parser.decoderRemoved(context: context)
    }

    mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        let receivedBytes = buffer.readableBytes - retainedBytes
        guard handler.acceptsRequests else {
            discard(&buffer, receivedBytes: receivedBytes)
            return .needMoreData
        }
        do {
            try measureRequestLine(buffer, receivedBytes: receivedBytes)
            let headCount = handler.headCount
            _ = try parser.decode(context: context, buffer: &buffer)
            retainedBytes = buffer.readableBytes
            try noteProgress(receivedBytes: receivedBytes, isNewRequest: handler.headCount != headCount)
        } catch HTTPParserError.headerOverflow where !handler.isBetweenRequests {
            context.fireErrorCaught(Self.tooMuchBesidesContent)
            discard(&buffer, receivedBytes: 0)
        } catch {
            context.fireErrorCaught(error)
            discard(&buffer, receivedBytes: 0)
        }
        return .needMoreData
    }

    mutating func decodeLast(
        context: ChannelHandlerContext,
        buffer: inout ByteBuffer,
        seenEOF: Bool
    ) throws -> DecodingState {
        if handler.acceptsRequests {
            do {
                _ = try parser.decodeLast(context: context, buffer: &buffer, seenEOF: seenEOF)
            } catch {
                context.fireErrorCaught(error)
            }
        }
        discard(&buffer, receivedBytes: 0)
        return .needMoreData
    }

    private mutating func discard(_ buffer: inout ByteBuffer, receivedBytes: Int) {
        buffer.moveReaderIndex(to: buffer.writerIndex)
        retainedBytes = 0
        if receivedBytes > 0 {
            handler.didDiscard(receivedBytes)
        }
    }

    private mutating func measureRequestLine(_ buffer: ByteBuffer, receivedBytes: Int) throws(RequestFault) {
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

    private mutating func noteProgress(receivedBytes: Int, isNewRequest: Bool) throws(RequestFault) {
        if isNewRequest {
            requestLineBytes = 0
            chunkedBytes = 0
            if handler.isBetweenRequests, retainedBytes > 0 {
                handler.headBegan()
            }
        } else if handler.isBetweenRequests {
            handler.headBegan()
        } else if let contentBytes = handler.chunkedContentBytes {
            chunkedBytes += receivedBytes
            guard chunkedBytes - contentBytes <= Self.maximumChunkOverhead + 8 * contentBytes else {
                throw Self.tooMuchBesidesContent
            }
        }
    }
}
