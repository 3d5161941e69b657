import NIOCore
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Public listener")
struct PublicListenerTests {
    private typealias Fixture = ListenerFixture

    @Test("The listener answers HEAD like GET, without the body")
    func answersHead() async throws {
        let response = try await Fixture.run { address in
            try await RawConnection.with(address) { connection in
                try await connection.send(
                    "HEAD /v1/check?bundle=com.example.doto&version=1.1 HTTP/1.1\r\nHost: x\r\n\r\n"
                )
                let head = try await connection.response(toHead: true)
                try await connection.send(Fixture.post(Fixture.payload2013))
                #expect(try await connection.response()?.body == Fixture.answer, "the connection goes on")
                return head
            }
        }
        #expect(response?.status == 200)
        #expect(response?.headers["content-length"] == "\(Fixture.answer.utf8.count)")
        #expect(response?.body == "")
    }

    @Test("The listener answers an absolute request target")
    func answersAnAbsoluteTarget() async throws {
        let response = try await exchange(Fixture.post(Fixture.payload2013, to: "http://localhost/v1/check"))
        #expect(response?.status == 200)
        #expect(response?.headers["date"] == "Sun, 01 Mar 2026 12:00:00 GMT")
    }

    @Test("The listener answers no messages, without a revision, while there is no policy")
    func answersWithoutAPolicy() async throws {
        let responses = try await Fixture.run(policy: CurrentPolicy()) { address in
            try await RawConnection.with(address) { connection in
                try await connection.send(Fixture.post(Fixture.payload2013))
                let standard = try await connection.response()
                try await connection.send(Fixture.post(Fixture.payload2013, to: "/tables/vLoadMessages"))
                return [standard, try await connection.response()]
            }
        }
        #expect(responses.map(\.?.status) == [200, 200])
        #expect(responses.map(\.?.body) == [#"{"messages":[]}"#, "{}"])
        #expect(responses[0]?.headers["policy-revision"] == nil)
    }

    /// A request that is too large, and what its answer must say.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: String
        let status: Int
        let detail: String
    }

    static let refusals: [Refusal] = [
        Refusal(
            testDescription: "17 KiB",
            request: Fixture.post(#"{"bundle":"\#(String(repeating: "x", count: 17 * 1024))"}"#), status: 413,
            detail: "at most 16384 bytes"
        ),
        Refusal(
            testDescription: "1 MB", request: Fixture.post(String(repeating: "x", count: 1_000_000)), status: 413,
            detail: "1000000 bytes"
        ),
        Refusal(
            testDescription: "a chunked megabyte",
            request: "POST /v1/check HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nf4240\r\n"
                + String(repeating: "x", count: 1_000_000) + "\r\n0\r\n\r\n",
            status: 413,
            detail: "too large"
        ),
        Refusal(
            testDescription: "a query of 9 KiB",
            request: "GET /v1/check?bundle=\(String(repeating: "x", count: 9 * 1024)) HTTP/1.1\r\nHost: x\r\n\r\n",
            status: 414, detail: "at most 8192"
        ),
    ]

    @Test("The listener refuses what is too large, names the fault, and stays unharmed", arguments: refusals)
    func refuses(_ refusal: Refusal) async throws {
        let (response, next) = try await Fixture.run { address in
            let response = try await RawConnection.with(address) { connection in
                try await connection.send(refusal.request)
                return try await connection.response()
            }
            let next = try await RawConnection.with(address) { connection in
                try await connection.send(Fixture.post(Fixture.payload2013))
                return try await connection.response()
            }
            return (response, next)
        }
        #expect(response?.status == refusal.status)
        #expect(response?.headers["content-type"] == "application/problem+json")
        #expect(response?.body.contains(refusal.detail) == true, "\(response?.body ?? "no response")")
        #expect(response?.body.contains("\"status\":\(refusal.status)") == true)
        #expect(next?.body == Fixture.answer)
    }

    @Test("The listener refuses bytes that are not UTF-8")
    func refusesInvalidUTF8() async throws {
        let body: [UInt8] = Array(#"{"bundle":"a"#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)
        let response = try await Fixture.run { address in
            try await RawConnection.with(address) { connection in
                try await connection.send("POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\r\n")
                try await connection.send(body)
                return try await connection.response()
            }
        }
        #expect(response?.status == 400)
        #expect(response?.body.contains("not valid UTF-8") == true)
    }

    @Test("The listener refuses what is not HTTP and ends the connection")
    func refusesOtherProtocols() async throws {
        let (response, isEnded) = try await Fixture.run { address in
            try await RawConnection.with(address) { connection in
                try await connection.send("\u{16}\u{3}\u{1} this is no HTTP\r\n\r\n")
                let response = try await connection.response()
                return (response, try await connection.isEnded())
            }
        }
        #expect(response?.status == 400)
        #expect(response?.body.contains("The request is not HTTP/1.1 as RFC 9112 defines it") == true)
        #expect(isEnded)
    }

    @Test(
        "The listener accepts a body of exactly 16384 bytes, and none of one byte more",
        arguments: [(16_384, 200), (16_385, 413)]
    )
    func acceptsTheLargestBody(size: Int, status: Int) async throws {
        let empty = #"{"bundle":"com.example.doto","version":"1.1","x":""}"#
        let filling = String(repeating: "x", count: size - empty.utf8.count)
        let response = try await exchange(Fixture.post(empty.replacing(#""x":"""#, with: #""x":"\#(filling)""#)))
        #expect(response?.status == status)
        #expect((response?.body == Fixture.answer) == (status == 200))
    }

    @Test("The listener answers pipelined requests in order")
    func answersPipelinedRequests() async throws {
        let responses = try await Fixture.run { address in
            try await RawConnection.with(address) { connection in
                try await connection.send(
                    Fixture.post(Fixture.payload2013) + Fixture.post("[]")
                        + Fixture.post(#"{"bundle":"com.example.doto","version":"2"}"#)
                )
                return [
                    try await connection.response(), try await connection.response(), try await connection.response(),
                ]
            }
        }
        #expect(responses.map(\.?.status) == [200, 400, 200])
        #expect(responses[0]?.body == Fixture.answer)
        #expect(responses[2]?.body == #"{"messages":[]}"#)
    }

    @Test("The listener reads a body that arrives byte by byte in chunks")
    func readsChunkedBodies() async throws {
        let response = try await Fixture.run { address in
            try await RawConnection.with(address) { connection in
                try await connection.send("POST /v1/check HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
                for byte in Fixture.payload2013.utf8 {
                    try await connection.send("1\r\n\(Character(Unicode.Scalar(byte)))\r\n")
                }
                try await connection.send("0\r\n\r\n")
                return try await connection.response()
            }
        }
        #expect(response?.body == Fixture.answer)
    }

    @Test(
        "The listener sends 100 Continue to a client that waits for it, and 413 instead to one that would send too much"
    )
    func answersExpectContinue() async throws {
        try await Fixture.run { address in
            try await RawConnection.with(address) { connection in
                let length = Fixture.payload2013.utf8.count
                try await connection.send(
                    "POST /v1/check HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: \(length)\r\n\r\n"
                )
                #expect(try await connection.response()?.status == 100)
                try await connection.send(Fixture.payload2013)
                #expect(try await connection.response()?.body == Fixture.answer)
            }
            try await RawConnection.with(address) { connection in
                try await connection.send(
                    "POST /v1/check HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 17000\r\n\r\n"
                )
                #expect(try await connection.response()?.status == 413)
            }
        }
    }

    @Test("The listener ends the connection when the client asks for it, and keeps an HTTP/1.0 one only when asked to")
    func keepsConnectionsAsAsked() async throws {
        try await Fixture.run { address in
            try await RawConnection.with(address) { connection in
                try await connection.send(Fixture.post(Fixture.payload2013, headers: "Connection: close\r\n"))
                #expect(try await connection.response()?.headers["connection"] == "close")
                #expect(try await connection.isEnded())
            }
            let old = Fixture.post(Fixture.payload2013).replacing("HTTP/1.1", with: "HTTP/1.0")
            try await RawConnection.with(address) { connection in
                try await connection.send(old)
                #expect(try await connection.response()?.headers["connection"] == "close")
                #expect(try await connection.isEnded())
            }
            try await RawConnection.with(address) { connection in
                try await connection.send(old.replacing("Host:", with: "Connection: keep-alive\r\nHost:"))
                #expect(try await connection.response()?.headers["connection"] == "keep-alive")
                try await connection.send(Fixture.post(Fixture.payload2013))
                #expect(try await connection.response()?.body == Fixture.answer)
            }
        }
    }

    @Test("The listener answers a request that is under way when it shuts down, then ends the connection")
    func finishesRequestsAtShutdown() async throws {
        let (done, continuation) = AsyncStream.makeStream(of: Void.self)
        async let response = Fixture.run { address -> Task<RawConnection.Response?, any Error> in
            let (halfSent, halfSentContinuation) = AsyncStream.makeStream(of: Void.self)
            let request = Array(Fixture.post(Fixture.payload2013).utf8)
            let task = Task {
                try await RawConnection.with(address) { connection in
                    try await connection.send(Fixture.post(Fixture.payload2013))
                    _ = try await connection.response()
                    try await connection.send(Array(request.prefix(100)))
                    halfSentContinuation.finish()
                    for await _ in done {}
                    try await connection.send(Array(request.dropFirst(100)))
                    let response = try await connection.response()
                    #expect(try await connection.isEnded())
                    return response
                }
            }
            for await _ in halfSent {}
            continuation.finish()
            return task
        }
        let answered = try await response.value
        #expect(answered?.body == Fixture.answer)
    }

    private func exchange(_ request: String) async throws -> RawConnection.Response? {
        try await Fixture.run { address in
            try await RawConnection.with(address) { connection in
                try await connection.send(request)
                return try await connection.response()
            }
        }
    }
}
