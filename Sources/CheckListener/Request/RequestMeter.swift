import Glibc
import NIOCore
import NIOHTTP1

/// Where the parser of a connection is, and how many bytes the request that is arriving has taken.
///
/// The parser is given bytes in pieces that ``nextPiece(of:)`` cuts. No piece has bytes of two requests, so that a request
/// is measured alike whether it arrives alone or behind others.
struct RequestMeter {
    /// What a body that is arriving has to come.
    private enum Body {
        case length(remaining: Int)
        case chunked(ChunkedBody)
    }

    /// How many heads have arrived.
    private(set) var headCount = 0
    /// Whether the bytes that arrive next begin a request, or go on with a head that has begun.
    private(set) var isBetweenRequests = true
    /// Whether some bytes of the request that is next have arrived, or all of its head.
    private(set) var hasHeadBegun = false
    /// Bytes of the request line that is arriving; nil when it is complete.
    private var requestLineBytes: Int? = 0
    private var body = Body.length(remaining: 0)
    /// Bytes of the chunked body that is arriving which are not content.
    private var chunkOverhead = 0
    /// The last two bytes of the head that is arriving.
    private var lastBytes: (UInt8, UInt8) = (0, 0)
    private let maximumRequestLineBytes: Int

    /// The most bytes that the parser is given at once: how far it may run ahead of what is answered.
    private static let maximumPieceBytes = 4_096

    /// How many bytes of a chunked body may be chunk sizes, extensions and trailers.
    ///
    /// A chunk has at least five, so there are at most about 200 chunks: each costs about as much as a short request.
    private static let maximumChunkOverhead = 1_024

    /// The fault of a chunked body that carries too much besides its content.
    private static let chunkOverheadFault = RequestFault.badRequest(
        "The chunked body has too many chunks, extensions or trailers; send Content-Length or larger chunks."
    )

    init(maximumRequestLineBytes: Int) {
        self.maximumRequestLineBytes = maximumRequestLineBytes
    }

    /// Measures the piece that the parser is given next.
    ///
    /// A piece ends where a head or a body does. Empty lines before a request are a piece of their own.
    ///
    /// - Parameter bytes: What has arrived and was not parsed yet, at least one byte.
    /// - Returns: How many of the bytes the piece has.
    /// - Throws: 414.
    mutating func nextPiece(of bytes: UnsafeRawBufferPointer) throws(RequestFault) -> Int {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.maximumPieceBytes))
        return isBetweenRequests ? try nextPieceOfHead(bytes) : nextPieceOfBody(bytes)
    }

    private mutating func nextPieceOfHead(_ bytes: UnsafeRawBufferPointer) throws(RequestFault) -> Int {
        if !hasHeadBegun {
            let emptyLines = bytes.prefix { $0 == 0x0D || $0 == 0x0A }.count
            if emptyLines > 0 { return emptyLines }
            hasHeadBegun = true
        }
        let piece = UnsafeRawBufferPointer(rebasing: bytes.prefix(endOfHead(in: bytes) ?? bytes.count))
        for byte in piece.suffix(2) { lastBytes = (lastBytes.1, byte) }
        try measureRequestLine(piece)
        return piece.count
    }

    /// Where the empty line ends that a head ends with.
    private func endOfHead(in bytes: UnsafeRawBufferPointer) -> Int? {
        /// The byte at an index, which may be one of the last two that were parsed.
        func byte(_ index: Int) -> UInt8 {
            switch index {
            case -2: lastBytes.0
            case -1: lastBytes.1
            default: bytes[index]
            }
        }
        var position = 0
        while let end = Self.lineFeed(in: bytes, from: position) {
            if byte(end - 1) == 0x0A || byte(end - 1) == 0x0D && byte(end - 2) == 0x0A { return end + 1 }
            position = end + 1
        }
        return nil
    }

    private static func lineFeed(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard start < bytes.count, let base = bytes.baseAddress else { return nil }
        return memchr(base + start, 0x0A, bytes.count - start).map { base.distance(to: UnsafeRawPointer($0)) }
    }

    private mutating func measureRequestLine(_ piece: UnsafeRawBufferPointer) throws(RequestFault) {
        guard let before = requestLineBytes else { return }
        let end = Self.lineFeed(in: piece, from: 0)
        let length = before + (end ?? piece.count)
        requestLineBytes = end == nil ? length : nil
        guard length <= maximumRequestLineBytes else {
            throw RequestFault(
                .uriTooLong,
                "The request line is longer than \(maximumRequestLineBytes) bytes. Use POST for longer descriptions."
            )
        }
    }

    private mutating func nextPieceOfBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch body {
        case .length(let remaining):
            // The parser ends a request with the last byte of its body.
            let count = remaining > 0 ? min(remaining, bytes.count) : bytes.count
            body = .length(remaining: remaining - count)
            return count
        case .chunked(var chunks):
            let count = max(1, chunks.advance(over: bytes))
            body = .chunked(chunks)
            chunkOverhead += count
            return count
        }
    }

    /// Notes what the parser has made of the piece.
    mutating func parsed(_ part: HTTPServerRequestPart) {
        switch part {
        case .head(let head):
            headCount += 1
            isBetweenRequests = false
            lastBytes = (0, 0)
            chunkOverhead = 0
            let length = head.headers.first(name: "content-length").flatMap { Int($0) }
            body = length.map { .length(remaining: $0) } ?? .chunked(ChunkedBody())
        case .body(let bytes):
            chunkOverhead -= bytes.readableBytes
        case .end:
            isBetweenRequests = true
            hasHeadBegun = false
            requestLineBytes = 0
        }
    }

    /// What an error of the parser means: within a body, header fields are trailers.
    func meaning(of error: any Error) -> any Error {
        if case HTTPParserError.headerOverflow = error, !isBetweenRequests { return Self.chunkOverheadFault }
        return error
    }

    /// Measures the piece after it was parsed.
    ///
    /// - Throws: 400 when the body carries too much besides its content.
    func pieceEnded() throws(RequestFault) {
        guard !isBetweenRequests, case .chunked = body, chunkOverhead > Self.maximumChunkOverhead else { return }
        throw Self.chunkOverheadFault
    }
}
