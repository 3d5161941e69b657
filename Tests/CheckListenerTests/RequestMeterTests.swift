import NIOCore
import NIOHTTP1
import Testing

@testable import CheckListener

@Suite("Request meter")
struct RequestMeterTests {
    private static func head(_ headers: HTTPHeaders = ["Host": "a"]) -> HTTPServerRequestPart {
        .head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/v1/check", headers: headers))
    }

    private static func body(_ count: Int) -> HTTPServerRequestPart { .body(ByteBuffer(repeating: 0x20, count: count)) }

    /// Whether a head has begun after a piece of bytes of which the parser makes some parts.
    private func begins(
        _ piece: String,
        _ parts: [HTTPServerRequestPart] = [],
        in meter: inout RequestMeter
    ) throws -> Bool {
        #expect(try nextPiece(of: piece, in: &meter) == piece.utf8.count, "these are not the bytes of one piece")
        for part in parts { meter.parsed(part) }
        try meter.pieceEnded()
        return meter.hasHeadBegun && meter.isBetweenRequests
    }

    private func nextPiece(of bytes: String, in meter: inout RequestMeter) throws -> Int {
        try Array(bytes.utf8).withUnsafeBytes { try meter.nextPiece(of: $0) }
    }

    @Test("The meter measures a request line in pieces, and each anew")
    func requestLine() throws {
        var meter = RequestMeter(maximumRequestLineBytes: 20)
        for _ in 1...3 {
            #expect(try begins("GET /v1/check", in: &meter))
            #expect(try begins("?a=b c\r", in: &meter))
            #expect(try !begins("\nHost: a.long.name.of.a.host\r\n\r\n", [Self.head(), .end(nil)], in: &meter))
        }
        #expect(try begins("GET /v1/check", in: &meter))
        let fault = #expect(throws: RequestFault.self) { try begins("?a=b cd\r", in: &meter) }
        #expect(fault?.status == .uriTooLong)
    }

    @Test("The meter lets a chunked body carry 1,024 bytes besides its content")
    func chunks() throws {
        var meter = RequestMeter(maximumRequestLineBytes: 20)
        _ = try begins("POST / HTTP/1.1\r\n\r\n", [Self.head()], in: &meter)
        let chunk = "8;\(String(repeating: "x", count: 500))\r\n12345678\r\n"
        #expect(try !begins(chunk, [Self.body(8)], in: &meter))
        #expect(try !begins(chunk, [Self.body(8)], in: &meter))
        #expect(try !begins("1;xxxxxxx\r\n", in: &meter))
        #expect(throws: RequestFault.self) { try begins("1\r\n", [Self.body(1)], in: &meter) }
    }

    @Test("The meter knows whether a head has begun")
    func heads() throws {
        var meter = RequestMeter(maximumRequestLineBytes: 20)
        #expect(try !begins("\r\n\r\n", in: &meter), "empty lines belong to no request")
        #expect(try begins("POST / ", in: &meter))
        #expect(meter.hasHeadBegun && meter.isBetweenRequests)
        #expect(try !begins("HTTP/1.1\r\n\r\n", [Self.head()], in: &meter))
        #expect(!meter.isBetweenRequests)
        #expect(try !begins("body", [Self.body(4), .end(nil)], in: &meter))
        #expect(!meter.hasHeadBegun && meter.isBetweenRequests)
        #expect(try begins("POST", in: &meter))
        #expect(meter.headCount == 1)
    }

    @Test("No piece has bytes of two requests, wherever the bytes are cut")
    func pieces() throws {
        let empty = "\r\n\n\r\n"
        let headOfLength = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n"
        let body = "a\n\r\n\r\n"
        let headOfChunks = "POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n"
        let chunks = "01\r\na\r\nA;x=\"0\"\r\n\n\r\n\r\n0\r\n\r\n\n\r\n0\r\nA: b\r\n\r\n"
        let next = "GET / HTTP/1.1\r\n"
        let ends = [empty, headOfLength, body, headOfChunks, chunks].reduce(into: [0]) {
            $0.append($0.last! + $1.utf8.count)
        }
        let bytes = Array((empty + headOfLength + body + headOfChunks + chunks + next).utf8)
        for cut in 0...bytes.count {
            var meter = RequestMeter(maximumRequestLineBytes: 20)
            var position = 0
            while position < bytes.count {
                let arrived = position < cut ? bytes[position..<cut] : bytes[position...]
                let length = try Array(arrived).withUnsafeBytes { try meter.nextPiece(of: $0) }
                let end = position + length
                #expect(
                    length > 0 && !ends.contains { position < $0 && $0 < end },
                    "from \(position) to \(end), cut at \(cut)"
                )
                switch end {
                case ends[2]: meter.parsed(Self.head(["Host": "a", "Content-Length": "6"]))
                case ends[3], ends[5]: meter.parsed(.end(nil))
                case ends[4]: meter.parsed(Self.head())
                default: break
                }
                position = end
            }
            #expect(meter.headCount == 2 && meter.hasHeadBegun && meter.isBetweenRequests)
        }
    }
}
