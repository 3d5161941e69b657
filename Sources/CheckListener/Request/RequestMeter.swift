// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Glibc
import NIOCore
import NIOHTTP1

/// Where the parser of a connection is, and how many bytes the request that is arriving has taken.
///
/// The decoder tells it of bytes, the handler of the parts that the parser makes of them.
struct RequestMeter {
    /// How many heads have arrived.
    private(set) var headCount = 0
    /// Whether the bytes that arrive next begin a request, or go on with a head that has begun.
    private(set) var isBetweenRequests = true
    /// Whether some bytes of the request that is next have arrived, or all of its head.
    private(set) var hasHeadBegun = false
    /// How many heads had arrived before the piece that is being parsed.
    private var earlierHeads = 0
    /// Whether a request has ended within the piece that is being parsed.
    private var hasEnded = false
    /// Whether the piece that is being parsed has nothing but empty lines, which belong to no request.
    private var isEmptyLines = false
    /// Bytes of the request line that is arriving; nil when it is complete.
    private var requestLineBytes: Int? = 0
    /// Bytes of the body that is arriving, the framing of its chunks included.
    private var bodyBytes = 0
    /// Bytes of content of the body that is arriving.
    private var contentBytes = 0
    private let maximumRequestLineBytes: Int

    /// How many bytes of a chunked body may be chunk sizes, extensions and trailers.
    ///
    /// A chunk has at least five, so there are at most about 200 chunks: each costs about as much as a short request.
    private static let maximumChunkOverhead = 1_024

    /// The fault of a chunked body that carries too much besides its content.
    static let chunkOverheadFault = RequestFault.badRequest(
        "The chunked body has too many chunks, extensions or trailers; send Content-Length or larger chunks."
    )

    init(maximumRequestLineBytes: Int) {
        self.maximumRequestLineBytes = maximumRequestLineBytes
    }

    /// Notes what the parser has made of the bytes.
    mutating func parsed(_ part: HTTPServerRequestPart) {
        switch part {
        case .head:
            headCount += 1
            contentBytes = 0
            isBetweenRequests = false
        case .body(let bytes):
            contentBytes += bytes.readableBytes
        case .end:
            isBetweenRequests = true
            hasHeadBegun = false
            hasEnded = true
        }
    }

    /// Measures a piece of bytes before it is parsed.
    ///
    /// - Throws: 414.
    mutating func willParse(_ bytes: UnsafeRawBufferPointer) throws(RequestFault) {
        earlierHeads = headCount
        hasEnded = false
        isEmptyLines =
            isBetweenRequests && !hasHeadBegun && !bytes.isEmpty && bytes.allSatisfy { $0 == 0x0D || $0 == 0x0A }
        guard isBetweenRequests, !isEmptyLines, let before = requestLineBytes else { return }
        let lineEnd = bytes.baseAddress.flatMap { start in
            memchr(start, 0x0A, bytes.count).map { start.distance(to: UnsafeRawPointer($0)) }
        }
        let length = before + (lineEnd ?? bytes.count)
        requestLineBytes = lineEnd == nil ? length : nil
        guard length <= maximumRequestLineBytes else {
            throw RequestFault(
                .uriTooLong,
                "The request line is longer than \(maximumRequestLineBytes) bytes. Use POST for longer descriptions."
            )
        }
    }

    /// Measures a piece of bytes after it was parsed.
    ///
    /// - Parameters:
    ///   - byteCount: How many bytes the piece had.
    ///   - retainedBytes: How many of them the parser wants to see again.
    /// - Returns: Whether a head has begun that is not complete.
    /// - Throws: 400 when the body carries too much besides its content.
    mutating func didParse(_ byteCount: Int, retainedBytes: Int) throws(RequestFault) -> Bool {
        if headCount != earlierHeads {
            requestLineBytes = 0
            bodyBytes = 0
        } else if !isBetweenRequests {
            bodyBytes += byteCount
            guard bodyBytes - contentBytes <= Self.maximumChunkOverhead else { throw Self.chunkOverheadFault }
        }
        // What follows the end of a request in the same piece is what the parser retains of it.
        guard isBetweenRequests, !isEmptyLines, !hasEnded || retainedBytes > 0 else { return false }
        hasHeadBegun = true
        return true
    }
}
