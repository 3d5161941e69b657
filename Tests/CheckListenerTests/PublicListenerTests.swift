import NIOCore
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Public listener")
struct PublicListenerTests {
    private typealias Fixture = ListenerFixture

    @Test("The listener answers the payload of 2013 with the matching message")
    func answersThePayloadOf2013() async throws {
        let response = try await exchange(Fixture.post(Fixture.payload2013))
        #expect(response?.status == 200)
        #expect(response?.body == Fixture.answer)
        #expect(response?.headers["content-type"] == "application/json")
        #expect(response?.headers["cache-control"] == "no-store")
        #expect(response?.headers["policy-revision"] == "7")
        #expect(response?.headers["date"] == "Sun, 01 Mar 2026 12:00:00 GMT")
    }

    @Test(
        "The listener calls the text `message` in the shape of the 2013 original, and answers {} when nothing matches"
    )
    func answersInTheLegacyShape() async throws {
        let match = try await exchange(Fixture.post(Fixture.payload2013, to: "/tables/vLoadMessages"))
        #expect(match?.body == Fixture.answer.replacing("\"text\":", with: "\"message\":"))
        let none = try await exchange(
            Fixture.post(#"{"bundle":"com.example.doto","version":"1.2"}"#, to: "/tables/vLoadMessages")
        )
        #expect(none?.status == 200)
        #expect(none?.body == "{}")
    }

    @Test("The listener answers the same question as a query, to be revalidated by caches")
    func answersAQuery() async throws {
        let response = try await exchange(
            "GET /v1/check?bundle=com.example.doto&version=1.0%2B45 HTTP/1.1\r\nHost: x\r\n\r\n"
        )
        #expect(response?.status == 200)
        #expect(response?.body == Fixture.answer)
        #expect(response?.headers["cache-control"] == "no-cache")
    }

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

    /// A request that cannot be read, and what its answer must say.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: String
        let status: Int
        let detail: String
        var headers: [String: String] = [:]
    }

    static let refusals: [Refusal] = [
        Refusal(testDescription: "not JSON", request: Fixture.post("hello"), status: 400, detail: "not a JSON object"),
        Refusal(testDescription: "an empty body", request: Fixture.post(""), status: 400, detail: "empty"),
        Refusal(testDescription: "an array", request: Fixture.post("[]"), status: 400, detail: "not a JSON object"),
        Refusal(
            testDescription: "truncated", request: Fixture.post(#"{"bundle":"a""#), status: 400, detail: "ends where"
        ),
        Refusal(
            testDescription: "truncated in a string", request: Fixture.post(#"{"bundle":"a"#), status: 400,
            detail: "ends inside a string"
        ),
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
            testDescription: "deep nesting",
            request: Fixture.post(
                #"{"bundle":"a","x":\#(String(repeating: "[", count: 32))\#(String(repeating: "]", count: 32))}"#
            ),
            status: 400,
            detail: "nested deeper than 32"
        ),
        Refusal(
            testDescription: "a duplicate member, found after unescaping",
            request: Fixture.post(#"{"bundle":"a","bund\u006ce":"b"}"#), status: 400, detail: "bundle"
        ),
        Refusal(
            testDescription: "a NUL character", request: Fixture.post(#"{"bundle":"a","x":"\u0000"}"#), status: 400,
            detail: "U+0000"
        ),
        Refusal(
            testDescription: "half a surrogate pair", request: Fixture.post(#"{"bundle":"a","x":"\ud800"}"#),
            status: 400, detail: "surrogate"
        ),
        Refusal(
            testDescription: "no bundle", request: Fixture.post(#"{"version":"1"}"#), status: 400, detail: "bundle"
        ),
        Refusal(
            testDescription: "an empty bundle", request: Fixture.post(#"{"bundle":""}"#), status: 400, detail: "bundle"
        ),
        Refusal(
            testDescription: "a region of a wrong type", request: Fixture.post(#"{"bundle":"a","region":5}"#),
            status: 400, detail: "region"
        ),
        Refusal(
            testDescription: "an os of a wrong type", request: Fixture.post(#"{"bundle":"a","os":["17"]}"#),
            status: 400, detail: "os"
        ),
        Refusal(
            testDescription: "an install id of a wrong type", request: Fixture.post(#"{"bundle":"a","install":7}"#),
            status: 400, detail: "install"
        ),
        Refusal(
            testDescription: "an unknown path", request: Fixture.post("{}", to: "/v2/check"), status: 404,
            detail: "/v1/check"
        ),
        Refusal(
            testDescription: "an unknown method", request: "DELETE /v1/check HTTP/1.1\r\nHost: x\r\n\r\n", status: 405,
            detail: "DELETE", headers: ["allow": "GET, HEAD, POST"]
        ),
        Refusal(
            testDescription: "GET of the 2013 route", request: "GET /tables/vLoadMessages HTTP/1.1\r\nHost: x\r\n\r\n",
            status: 405, detail: "POST", headers: ["allow": "POST"]
        ),
        Refusal(
            testDescription: "a content encoding", request: Fixture.post("{}", headers: "Content-Encoding: gzip\r\n"),
            status: 415, detail: "gzip", headers: ["accept-encoding": "identity"]
        ),
        Refusal(
            testDescription: "a content encoding and none",
            request: Fixture.post("{}", headers: "Content-Encoding: gzip\r\nContent-Encoding: identity\r\n"),
            status: 415, detail: "gzip", headers: ["accept-encoding": "identity"]
        ),
        Refusal(
            testDescription: "a duplicate in the query",
            request: "GET /v1/check?bundle=a&os=1&os=2 HTTP/1.1\r\nHost: x\r\n\r\n", status: 400, detail: "os"
        ),
        Refusal(
            testDescription: "a broken percent sequence",
            request: "GET /v1/check?bundle=%zz HTTP/1.1\r\nHost: x\r\n\r\n", status: 400, detail: "%zz"
        ),
        Refusal(
            testDescription: "a query that is not UTF-8",
            request: "GET /v1/check?bundle=%ff HTTP/1.1\r\nHost: x\r\n\r\n", status: 400, detail: "UTF-8"
        ),
        Refusal(
            testDescription: "a query of 9 KiB",
            request: "GET /v1/check?bundle=\(String(repeating: "x", count: 9 * 1024)) HTTP/1.1\r\nHost: x\r\n\r\n",
            status: 414, detail: "at most 8192"
        ),
    ]

    @Test("The listener refuses what it cannot read, names the fault, and stays unharmed", arguments: refusals)
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
        for (name, value) in refusal.headers {
            #expect(response?.headers[name] == value)
        }
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

    @Test(
        "The listener takes null, empty, unknown and nested members for not sent",
        arguments: [
            #"{"bundle":"COM.example.DOTO","version":"1.1","region":null,"os":"","ab":{"x":[1,{"y":null}]}}"#,
            " \t\r\n{ \"bundle\" : \"com.example.doto\" , \"version\" : \"1.1\" } \n",
            #"{"bundle":"com.example.doto","version":"\u0031.1","\ud83d\ude00":true,"n":-1.5e+3}"#,
            #"{"bundle":"com.example.doto","version":"v1.0+45","build":42}"#,
        ]
    )
    func takesOddMembers(body: String) async throws {
        #expect(try await exchange(Fixture.post(body))?.body == Fixture.answer)
    }

    @Test(
        "The listener reads a plus sign in a query as a plus sign, and an empty member as not sent",
        arguments: ["version=1.0+45", "version=1.0%2B45", "version=1.0&os=", "version=1.1&&region"]
    )
    func readsQueries(query: String) async throws {
        let response = try await exchange("GET /v1/check?bundle=com.example.doto&\(query) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(response?.body == Fixture.answer)
    }

    @Test("The listener reads a number as version as it was written")
    func readsNumbersAsWritten() async throws {
        let below = try await exchange(Fixture.post(#"{"bundle":"com.example.doto","version":1.10}"#))
        #expect(below?.body == Fixture.answer.replacing(Fixture.answer, with: #"{"messages":[]}"#))
        let above = try await exchange(Fixture.post(#"{"bundle":"com.example.doto","version":1.1}"#))
        #expect(above?.body == Fixture.answer)
        let exponent = try await exchange(Fixture.post(#"{"bundle":"com.example.doto","version":1e0}"#))
        #expect(exponent?.body == #"{"messages":[]}"#)
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
