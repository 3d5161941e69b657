import NIOHTTP1
import TestRandom
import Testing

/// `deploy/nginx-gate.conf`, with a versiongate that answers as the test says.
@Suite(
    "nginx as a gate", .whole, .enabled(if: Nginx.program != nil, "nginx is not installed"), .timeLimit(.minutes(20))
)
struct NginxGateTests {
    private static let messages = #"{"messages":[{"id":"a"}]}"#
    private static let noMessages = #"{"messages":[]}"#
    private static let refusal = ScriptedServer.Answer.response(
        .forbidden, ["App-Lockout": "a", "Content-Type": "application/json"], messages
    )

    /// What an app sends to the API, with what is for nobody else.
    private static let fields: HTTPHeaders = [
        "App-Bundle": "com.example.doto", "App-Version": "1.0.0", "App-Build": "10", "App-Platform": "ios",
        "App-OS": "17.1", "App-Region": "JP", "App-Install": "i", "Authorization": "Bearer secret",
        "Cookie": "session=secret", "Content-Encoding": "gzip", "User-Agent": "Doto/10",
    ]

    /// An nginx between an app, an API and versiongate.
    private struct Gate: Sendable {
        let versiongate: ScriptedServer
        let api: ScriptedServer
        let port: Int

        /// The answer to a request at the API.
        func ask() async throws -> HTTPAnswer {
            let url = "http://127.0.0.1:\(port)/a%20b/c.html?x=%2f"
            return try await HTTPAnswer(url, method: .POST, NginxGateTests.fields, body: "hello")
        }

        /// Expects that the API gets the request as the app sent it, and answers.
        func expectsToPass(_ what: String) async throws {
            let answer = try await ask()
            #expect(answer.status == 200 && answer.body == "the API", "\(what): \(answer.status) \(answer.body)")
            #expect(answer.headers["app-lockout"].isEmpty && answer.headers["www-authenticate"].isEmpty, "\(what)")
            let requests = api.takeRequests()
            #expect(requests.count == 1, "\(what)")
            #expect(requests.first?.method == .POST && requests.first?.body == "hello", "\(what)")
            #expect(requests.first?.target == "/a%20b/c.html?x=%2f", "\(what)")
            for (name, value) in NginxGateTests.fields {
                #expect(requests.first?.headers.first(name: name) == value, "\(what)")
            }
        }

        /// Expects a refusal, and that the API gets nothing.
        func expectsRefusal(_ what: String, _ body: String) async throws {
            let answer = try await ask()
            #expect(answer.status == 426 && answer.body == body, "\(what): \(answer.status) \(answer.body)")
            #expect(answer.headers["app-lockout"] == ["a"] && answer.headers["upgrade"] == ["app"], "\(what)")
            #expect(answer.headers["content-type"] == ["application/json"], "\(what)")
            #expect(answer.headers["cache-control"] == ["no-store"], "\(what)")
            #expect(api.takeRequests().isEmpty, "\(what)")
        }
    }

    private static func run(patience: String? = "60s", _ body: @Sendable (Gate) async throws -> Void) async throws {
        try await ScriptedServer.run(answering: { _ in .response(.noContent) }) { versiongate, port in
            try await ScriptedServer.run(answering: { _ in .response(.ok, [:], "the API") }) { api, apiPort in
                try await Nginx.run(inFrontOf: (port, port), guarding: apiPort, patience: patience) { gateway in
                    try await body(Gate(versiongate: versiongate, api: api, port: gateway))
                }
            }
        }
    }

    @Test("A request passes for whatever versiongate answers but 403")
    func passes() async throws {
        let fields: HTTPHeaders = [
            "Location": "/elsewhere", "WWW-Authenticate": "Basic", "App-Lockout": "b",
            "Content-Type": "application/problem+json",
        ]
        try await Self.run { gate in
            for code in 200...599 where code != 403 {
                let status = HTTPResponseStatus(statusCode: code)
                gate.versiongate.answer(.response(status, fields, status.mayHaveResponseBody ? "{}" : ""))
                try await gate.expectsToPass("\(code)")
                #expect(gate.versiongate.takeRequests().count == 1, "\(code)")
            }
            gate.versiongate.answer(Self.refusal, Self.refusal)
            try await gate.expectsRefusal("403", Self.messages)
        }
    }

    @Test("A client that is refused is told so without messages where they do not come")
    func refusesWithoutMessages() async throws {
        try await Self.run { gate in
            for code in [204, 301, 302, 304, 400, 401, 404, 409, 413, 418, 422, 426, 429, 500, 501, 502, 503, 504] {
                let status = HTTPResponseStatus(statusCode: code)
                let body = status.mayHaveResponseBody ? #"{"type":"about:blank"}"# : ""
                gate.versiongate.answer(Self.refusal, .response(status, ["App-Lockout": "b"], body))
                try await gate.expectsRefusal("\(code)", Self.noMessages)
            }
        }
    }

    @Test("A versiongate that hangs is asked once, one that breaks the connection twice, and the request passes")
    func passesWithoutAnswer() async throws {
        // After either, nginx leaves a server out for a second: each has an nginx of its own.
        try await Self.run(patience: nil) { gate in
            gate.versiongate.answer(.silence, Self.refusal, Self.refusal)
            try await gate.expectsToPass("silence")
            #expect(gate.versiongate.takeRequests().count == 1)
        }
        try await Self.run { gate in
            gate.versiongate.answer(.end, .end, Self.refusal)
            try await gate.expectsToPass("end")
            #expect(gate.versiongate.takeRequests().count == 2)
        }
        try await Self.run(patience: "3s") { gate in
            gate.versiongate.answer(Self.refusal, .silence, Self.refusal)
            try await gate.expectsRefusal("silence after 403", Self.noMessages)
            #expect(gate.versiongate.takeRequests().count == 2)
        }
    }

    @Test("versiongate gets the fields that describe the app, and nothing else of a request")
    func keepsSecrets() async throws {
        let described = ["bundle", "version", "build", "platform", "os", "region", "install"].map { "app-\($0)" }
        try await Self.run { gate in
            gate.versiongate.answer(Self.refusal, Self.refusal)
            try await gate.expectsRefusal("403", Self.messages)
            let questions = gate.versiongate.takeRequests()
            #expect(questions.count == 2)
            for question in questions {
                #expect(question.method == .GET && question.target == "/v1/gate" && question.body.isEmpty)
                let names = question.headers.map { $0.name.lowercased() }
                #expect(names.sorted() == (described + ["host", "x-forwarded-for"]).sorted())
                for name in described { #expect(question.headers[name] == Self.fields[name]) }
            }
        }
    }

    @Test("nginx in front of releases lets them through as they are, and nothing else")
    func letsReleasesThrough() async throws {
        try await ScriptedServer.run(answering: { _ in .response(.created, [:], "{}") }) { versiongate, port in
            try await Nginx.run("nginx-releases.conf", inFrontOf: (port, port)) { gateway in
                let url = "http://127.0.0.1:\(gateway)"
                let fields: HTTPHeaders = ["Authorization": "Bearer vgr_x"]
                let answer = try await HTTPAnswer("\(url)/v1/releases", method: .POST, fields, body: "{\"a\": 1}")
                #expect(answer.status == 201 && answer.body == "{}")
                let request = try #require(versiongate.takeRequests().first)
                #expect(request.target == "/v1/releases" && request.body == "{\"a\": 1}")
                #expect(request.headers["authorization"] == ["Bearer vgr_x"])
                #expect(request.headers["x-forwarded-for"] == ["127.0.0.1"])
                for (method, path, status) in [
                    (.GET, "/v1/releases", 403), (.POST, "/v1/releases/", 404), (.POST, "/v1/check", 404),
                    (.GET, "/v1/check?bundle=a", 404), (.GET, "/", 404),
                ] as [(HTTPMethod, String, Int)] {
                    #expect(try await HTTPAnswer(url + path, method: method, fields).status == status, "\(path)")
                }
                let large = String(repeating: "x", count: 16_385)
                #expect(try await HTTPAnswer("\(url)/v1/releases", method: .POST, fields, body: large).status == 413)
                #expect(versiongate.takeRequests().isEmpty)
            }
        }
    }

    @Test("What the API itself refuses reaches the app as the API said it")
    func leavesStatuses() async throws {
        try await Self.run { gate in
            for code in [401, 403, 404, 426, 500, 503] {
                let status = HTTPResponseStatus(statusCode: code)
                gate.api.answer(.response(status, ["WWW-Authenticate": "Basic"], "no"))
                let answer = try await gate.ask()
                #expect(answer.status == code && answer.body == "no")
                #expect(answer.headers["www-authenticate"] == ["Basic"])
            }
        }
    }
}
