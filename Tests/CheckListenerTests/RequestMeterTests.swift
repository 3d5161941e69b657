// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1
import Testing

@testable import CheckListener

@Suite("Request meter")
struct RequestMeterTests {
    private static let head = HTTPServerRequestPart.head(
        HTTPRequestHead(version: .http1_1, method: .POST, uri: "/v1/check", headers: ["Host": "a"])
    )

    private static func body(_ count: Int) -> HTTPServerRequestPart {
        .body(ByteBuffer(repeating: 0x20, count: count))
    }

    /// Whether a head has begun after a piece of bytes of which the parser makes some parts.
    private func begins(
        _ piece: String,
        _ parts: [HTTPServerRequestPart] = [],
        retaining retainedBytes: Int = 0,
        in meter: inout RequestMeter
    ) throws -> Bool {
        try Array(piece.utf8).withUnsafeBytes { bytes in try meter.willParse(bytes) }
        for part in parts { meter.parsed(part) }
        return try meter.didParse(piece.utf8.count, retainedBytes: retainedBytes)
    }

    @Test("The meter measures a request line in pieces, and each anew")
    func requestLine() throws {
        var meter = RequestMeter(maximumRequestLineBytes: 20)
        for _ in 1...3 {
            #expect(try begins("GET /v1/check", in: &meter))
            #expect(try begins("?a=b c\r", in: &meter))
            #expect(try !begins("\nHost: a.long.name.of.a.host\r\n\r\n", [Self.head, .end(nil)], in: &meter))
        }
        #expect(try begins("GET /v1/check", in: &meter))
        let fault = #expect(throws: RequestFault.self) { try begins("?a=b cd\r", in: &meter) }
        #expect(fault?.status == .uriTooLong)
    }

    @Test("The meter lets a chunked body carry 1,024 bytes besides its content")
    func chunks() throws {
        var meter = RequestMeter(maximumRequestLineBytes: 20)
        _ = try begins("POST / HTTP/1.1\r\n\r\n", [Self.head], in: &meter)
        #expect(try !begins(String(repeating: "x", count: 10_000), [Self.body(9_500)], in: &meter))
        #expect(try !begins(String(repeating: "x", count: 524), in: &meter))
        #expect(throws: RequestFault.self) { try begins("x", in: &meter) }
    }

    @Test("The meter knows whether a head has begun")
    func heads() throws {
        var meter = RequestMeter(maximumRequestLineBytes: 20)
        #expect(try !begins("\r\n\r\n", in: &meter), "empty lines belong to no request")
        #expect(try begins("POST / ", in: &meter))
        #expect(meter.hasHeadBegun && meter.isBetweenRequests)
        #expect(try !begins("HTTP/1.1\r\n\r\n", [Self.head], in: &meter))
        #expect(!meter.isBetweenRequests)
        #expect(try !begins("body", [Self.body(4), .end(nil)], in: &meter))
        #expect(!meter.hasHeadBegun && meter.isBetweenRequests)
        #expect(
            try begins(
                "POST / HTTP/1.1\r\n\r\nbodyPOST",
                [Self.head, Self.body(4), .end(nil)],
                retaining: 4,
                in: &meter
            )
        )
        #expect(meter.headCount == 2)
    }
}
