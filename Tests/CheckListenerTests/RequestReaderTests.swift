import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestRandom
import Testing

@testable import CheckListener

/// The reader beside swift-nio's llhttp: what ours takes, llhttp takes as the same requests; what llhttp refuses, ours refuses.
@Suite("Request reader", .computing, .serialized)
struct RequestReaderTests {
    /// A request as a reader took it.
    private struct Taken: Equatable {
        let line: String
        /// Each as `name: value`.
        let fields: [String]
        /// nil where it is not known, or has not come to its end.
        var body: [UInt8]?
        /// Whether it came to its end.
        var isWhole: Bool
    }

    /// What a reader made of the bytes of a connection.
    private struct Reading: Equatable {
        enum End: Equatable {
            /// All was taken, and the connection goes on.
            case open
            /// The last request ends the connection.
            case closed
            /// A request was not whole.
            case incomplete
            case refused(String)
        }

        var requests: [Taken] = []
        /// How many clients were told to continue.
        var continued = 0
        var end = End.open
    }

    // MARK: The two readers

    private static let blanks = CharacterSet(charactersIn: " \t")

    /// What ours makes of some bytes that come in pieces.
    private static func ours(_ pieces: [[UInt8]]) -> Reading {
        var reading = Reading()
        var reader = RequestReader()
        var unread: [UInt8] = []
        for piece in pieces {
            unread += piece
            let count = unread.withUnsafeBytes { read($0, &reader, &reading) }
            unread.removeFirst(count)
            if reading.end != .open { return reading }
        }
        if !unread.isEmpty { reading.end = .incomplete }
        return reading
    }

    private static func read(
        _ bytes: UnsafeRawBufferPointer,
        _ reader: inout RequestReader,
        _ reading: inout Reading
    ) -> Int {
        var position = 0
        while true {
            while position < bytes.count, bytes[position] == 0x0D || bytes[position] == 0x0A { position += 1 }
            if position == bytes.count { return position }
            let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
            switch reader.read(rest) {
            case .request(let request):
                reading.requests.append(taken(request, rest))
                position += request.length
                if request.keepsConnection { continue }
                reading.end = .closed
                return position
            case .waitsForContinue: reading.continued += 1
            case .incomplete: return position
            case .malformed(let fault, _):
                reading.end = .refused(fault.detail)
                return position
            }
        }
    }

    private static func taken(_ request: Request, _ bytes: UnsafeRawBufferPointer) -> Taken {
        let head = String(decoding: bytes[..<request.fields.position], as: UTF8.self)
        let lines = head.unicodeScalars.split(separator: "\r\n".unicodeScalars).map { String($0) }
        let fields = lines.dropFirst().map { line in
            let halves = line.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return "\(String(halves[0])): \(String(halves[1]).trimmingCharacters(in: blanks))"
        }
        let isRefusedEarly = if case .refused = request.route, !request.keepsConnection { true } else { false }
        var body: [UInt8]?
        switch request.route {
        case .checkBody: body = request.chunks ?? Array(bytes[request.input])
        default:
            let isChunked = !request.fields.values(of: "transfer-encoding", in: bytes).isEmpty
            if !isChunked { body = Array(bytes[request.fields.position..<request.length]) }
        }
        if isRefusedEarly { body = nil }
        return Taken(line: lines[0], fields: fields, body: body, isWhole: !isRefusedEarly)
    }

    /// What llhttp makes of some bytes, and of the end behind them.
    private static func llhttp(_ bytes: [UInt8]) throws -> Reading {
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize, limits.maxHeaderFieldCount) = (1 << 30, 1 << 30, 1 << 30)
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits)
        let channel = EmbeddedChannel(handler: ByteToMessageHandler(decoder))
        var reading = Reading()
        do {
            try channel.writeInbound(ByteBuffer(bytes: bytes))
            _ = try channel.finish(acceptAlreadyClosed: true)
        } catch {
            reading.end = .refused("\(error)")
        }
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            let last = reading.requests.count - 1
            switch part {
            case .head(let head):
                let fields = head.headers.map { "\($0.name): \($0.value.trimmingCharacters(in: blanks))" }
                let line = "\(head.method.rawValue) \(head.uri) HTTP/\(head.version.major).\(head.version.minor)"
                reading.requests.append(Taken(line: line, fields: fields, body: [], isWhole: false))
            case .body(let bytes): reading.requests[last].body?.append(contentsOf: bytes.readableBytesView)
            case .end: reading.requests[last].isWhole = true
            }
        }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        return reading
    }

    // MARK: Comparisons

    /// Holds our reader to the other, and to itself however the bytes are cut.
    ///
    /// - Returns: What ours made of the bytes.
    @discardableResult
    private static func compare(_ bytes: [UInt8], _ cuts: [[[UInt8]]], _ comment: Comment) throws -> Reading {
        let ours = ours([bytes])
        for pieces in cuts { #expect(Self.ours(pieces) == ours, "in \(pieces.count) pieces: \(comment)") }
        let other = try llhttp(bytes)
        for (number, request) in ours.requests.enumerated() {
            guard number < other.requests.count else {
                Issue.record("llhttp does not take request \(number): \(comment)")
                return ours
            }
            let same = other.requests[number]
            #expect(request.line == same.line && request.fields == same.fields, comment)
            guard request.isWhole else { continue }
            #expect(same.isWhole, comment)
            if let body = request.body { #expect(body == same.body, comment) }
        }
        if case .refused = other.end { #expect(ours.end != .open, "llhttp refuses it: \(comment)") }
        return ours
    }

    private static func cuts(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [[[UInt8]]] {
        [bytes.map { [$0] }, Mutator.split(bytes, &random), Mutator.split(bytes, &random)]
    }

    @Test("Each trick of request smuggling is refused, or read as everybody reads it, however it is cut")
    func corpus() throws {
        var random = SeededGenerator()
        for trick in SmugglingCorpus.tricks {
            let comment: Comment = "\(trick), seed \(random.seed)"
            let reading = try Self.compare(trick.bytes, Self.cuts(trick.bytes, &random), comment)
            let smuggled = reading.requests.count { $0.line.contains("smuggled") }
            if trick.isRefused {
                #expect(!reading.requests.contains(where: \.isWhole) && reading.end != .open, comment)
            } else {
                #expect(smuggled == 1 && reading.requests.count == 2 && reading.end == .open, comment)
            }
        }
        print("Request reader: \(SmugglingCorpus.tricks.count) tricks")
    }

    @Test(
        "What is taken is what llhttp takes, and what llhttp refuses is refused, whatever is sent and however it is cut"
    )
    func agrees() throws {
        let environment = ProcessInfo.processInfo.environment
        // Ten times as many as the tests over sockets send.
        let count = environment["VERSIONGATE_REQUESTS"].flatMap { Int($0) }.map { $0 * 10 } ?? 3_000
        let firstSeed = environment["VERSIONGATE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max / 2)
        var (taken, refused, connections) = (0, 0, 0)
        var seed = firstSeed
        while taken + refused < count {
            var random = SeededGenerator(seed: seed)
            let bytes = RequestGenerator.bytes(&random, isLong: random.chance(3))
            let cuts =
                bytes.count < 2_000 || random.chance(5) ? Self.cuts(bytes, &random) : [Mutator.split(bytes, &random)]
            let reading = try Self.compare(
                bytes, cuts,
                "VERSIONGATE_SEED=\(seed): \(String(decoding: bytes.prefix(2_000), as: UTF8.self).debugDescription)"
            )
            taken += reading.requests.count
            if case .refused = reading.end { refused += 1 }
            connections += 1
            seed &+= 1
        }
        print(
            "Request reader: \(taken) taken and \(refused) refused of \(connections) connections from seed \(firstSeed)"
        )
        #expect(min(taken, refused) > count / 10, "nearly all is taken, or nearly nothing")
    }

    // MARK: Limits

    /// What comes of a request, in one piece and with its last 1,000 bytes one by one.
    private static func end(_ text: String) -> Reading.End {
        let bytes = Array(text.utf8)
        let reading = ours([bytes])
        #expect(ours([bytes.dropLast(1_000)] + bytes.suffix(1_000).map { [$0] }) == reading)
        return reading.end
    }

    @Test("Requests keep within the limits on the request line and the header fields, to the byte")
    func limits() {
        func many(_ count: Int, _ text: String = "a") -> String { String(repeating: text, count: count) }
        let long = "The request line is longer than 12288 bytes. Use POST for longer descriptions."
        let large = "The header fields of the request are too large or too many; send fewer."
        for start in ["GET /v1/check?", "PUT /v1/check?", "GET http://a/v1/check?"] {
            let rest = 12_288 - start.utf8.count - " HTTP/1.1\r".utf8.count
            #expect(Self.end("\(start)\(many(rest)) HTTP/1.1\r\nHost: a\r\n\r\n") == .open)
            #expect(Self.end("\(start)\(many(rest + 1)) HTTP/1.1\r\nHost: a\r\n\r\n") == .refused(long))
        }
        for line in ["GET /v1/check?bundle=a HTTP/1.1", "PUT /v1/check?bundle=a HTTP/1.1", "POST /v1/check HTTP/1.1"] {
            let head = line + "\r\nHost: a\r\n"
            #expect(Self.end(head + many(99, "X: y\r\n") + "\r\n") == .open)
            #expect(Self.end(head + many(100, "X: y\r\n") + "\r\n") == .refused(large))
            let rest = 16_384 - line.split(separator: " ")[1].utf8.count - "Host a".utf8.count - "X ".utf8.count
            #expect(Self.end(head + "X: \(many(rest))\r\n\r\n") == .open)
            #expect(Self.end(head + "X: \(many(rest + 1))\r\n\r\n") == .refused(large))
        }
    }

    @Test("A chunked body carries 1,024 bytes besides its content, and 16,384 of content")
    func chunks() {
        let head = "POST /v1/check HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        func end(_ body: String) -> Reading.End { Self.end(head + body) }
        let extended = "8;\(String(repeating: "x", count: 1_000))\r\n12345678\r\n"
        // The chunk has 1,006 bytes of them.
        #expect(end(extended + "0\r\nX: 12\r\n\r\n") == .open)
        let fault =
            "The chunked body has too many chunks, extensions or trailers; send Content-Length or larger chunks."
        #expect(end(extended + "1;xxxxxxxxxx\r\n1\r\n0\r\n\r\n") == .refused(fault))
        #expect(end(extended + "0\r\nX: \(String(repeating: "x", count: 20))\r\n\r\n") == .refused(fault))
        let content = String(repeating: " ", count: 16_384)
        #expect(end("4000\r\n\(content)\r\n0\r\n\r\n") == .open)
        #expect(end("4001\r\n\(content)") == .closed)
        #expect(end("4000\r\n\(content)\r\n1\r\n") == .closed)
    }
}
