import NIOCore
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Revalidation")
struct RevalidationTests {
    private typealias Fixture = ListenerFixture

    private static let matching = "/v1/check?bundle=com.example.doto&version=1.1"

    private static func get(_ target: String = matching, method: String = "GET", _ fields: String...) -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: x\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// The responses to requests on one connection.
    private static func responses(
        to requests: [String],
        from policy: CompiledPolicy? = nil
    ) async throws -> [RawConnection.Response] {
        let live = CurrentPolicy(try policy ?? Fixture.policy())
        return try await Fixture.run(policy: live) { address in
            try await RawConnection.with(address) { connection in
                var responses: [RawConnection.Response] = []
                for request in requests {
                    try await connection.send(request)
                    let response = try await connection.response(toHead: request.hasPrefix("HEAD"))
                    responses.append(try #require(response))
                }
                return responses
            }
        }
    }

    @Test("An answer has a strong tag, and 304 without a body says that it still holds")
    func answersNotModified() async throws {
        let live = CurrentPolicy(try Fixture.policy())
        try await Fixture.run(policy: live) { address in
            try await RawConnection.with(address) { connection in
                try await connection.send(Self.get())
                let first = try #require(try await connection.response())
                #expect(first.status == 200)
                #expect(first.body == Fixture.answer)
                #expect(first.headers["cache-control"] == "no-cache")
                #expect(first.headers["vary"] == nil)
                let tag = try #require(first.headers["etag"])
                #expect(tag.wholeMatch(of: /"[0-9a-f]{32}"/) != nil)

                try await connection.send(Self.get(Self.matching, "If-None-Match: \(tag)"))
                let second = try #require(try await connection.response())
                #expect(second.status == 304)
                #expect(second.body == "")
                for name in ["etag", "cache-control", "policy-revision", "date"] {
                    #expect(second.headers[name] == first.headers[name])
                }
                #expect(second.headers["content-type"] == nil)
                #expect(second.headers["content-length"] == nil)

                try await connection.send(Fixture.post(Fixture.payload2013))
                #expect(try await connection.response()?.body == Fixture.answer, "the connection goes on")
            }
        }
    }

    @Test("The tag is that of the answer: another revision keeps it, another answer changes it")
    func tagsTheAnswer() async throws {
        let requests = [Self.get(), Self.get("/v1/check?bundle=com.example.doto&version=1.2")]
        let old = try await Self.responses(to: requests, from: try Fixture.policy(revision: 7))
        let new = try await Self.responses(to: requests, from: try Fixture.policy(revision: 8))
        #expect(old.map { $0.headers["policy-revision"] } == ["7", "7"])
        #expect(new.map { $0.headers["policy-revision"] } == ["8", "8"])
        #expect(old.map { $0.headers["etag"] } == new.map { $0.headers["etag"] })
        #expect(old[0].headers["etag"] != old[1].headers["etag"])
    }

    @Test("HEAD has the tag of GET, and is answered by 304 likewise")
    func answersHead() async throws {
        let tag = Array(Fixture.answer.utf8).withUnsafeBytes { EntityTag(of: $0).text }
        let responses = try await Self.responses(to: [
            Self.get(method: "HEAD"), Self.get(method: "HEAD", "If-None-Match: \(tag)"), Self.get(),
        ])
        #expect(responses.map(\.status) == [200, 304, 200])
        #expect(responses.map { $0.headers["etag"] } == [tag, tag, tag])
        #expect(responses[0].headers["content-length"] == "\(Fixture.answer.utf8.count)")
    }

    /// What a client says it has, and whether that is the answer.
    static let conditions: [(field: String, isKnown: Bool)] = [
        ("*", true),
        (" * ", true),
        ("TAG", true),
        ("W/TAG", true),
        (#""other", TAG"#, true),
        (#""a,b" , W/TAG ,"c""#, true),
        (#""other""#, false),
        (#""", "x""#, false),
        ("TA", false),
        (#""TAG"#, false),
        ("", false),
        (#""*""#, false),
        ("**x", false),
    ]

    @Test("The listener reads every form of If-None-Match", arguments: conditions)
    func readsConditions(field: String, isKnown: Bool) async throws {
        let tag = Array(Fixture.answer.utf8).withUnsafeBytes { EntityTag(of: $0).text }
        // TA stands for a tag whose last quote is missing.
        let value = field == "TA" ? String(tag.dropLast()) : field.replacing("TAG", with: tag)
        let response = try await Self.responses(to: [Self.get(Self.matching, "If-None-Match: \(value)")])
        #expect(response[0].status == (isKnown ? 304 : 200))
        #expect(response[0].body == (isKnown ? "" : Fixture.answer))
    }

    @Test("The listener reads If-None-Match from several fields of the name")
    func readsSeveralFields() async throws {
        let tag = Array(Fixture.answer.utf8).withUnsafeBytes { EntityTag(of: $0).text }
        let response = try await Self.responses(to: [
            Self.get(Self.matching, #"If-None-Match: "other""#, "if-none-match: \(tag)")
        ])
        #expect(response[0].status == 304)
    }

    @Test("Refusals and POST are kept by no cache, whatever the request says it has")
    func keepsOthersOut() async throws {
        let body = Fixture.payload2013
        let responses = try await Self.responses(to: [
            Self.get("/v1/check?version=1.1", "If-None-Match: *"),
            Fixture.post(body, headers: "If-None-Match: *\r\n"),
        ])
        #expect(responses.map(\.status) == [400, 200])
        #expect(responses.map { $0.headers["cache-control"] } == ["no-store", "no-store"])
        #expect(responses.map { $0.headers["etag"] } == [nil, nil])
    }
}
