import Foundation
import NIOHTTP1
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Pages over HTTP", .whole)
struct PagesTests {
    private static let paths = [
        "/", "/apps", "/apps/a", "/rules", "/rules/a", "/try", "/history", "/unknowns", "/overview/lockouts.csv",
        "/assets/pages.css",
    ]

    private static func ask(
        _ server: ServingBinary,
        _ path: String,
        method: HTTPMethod = .GET,
        _ headers: HTTPHeaders = [:]
    ) async throws -> HTTPAnswer {
        try await HTTPAnswer(server.managementURL + path, method: method, headers)
    }

    private static func basic(_ text: String) -> HTTPHeaders {
        ["Authorization": "Basic " + Data(text.utf8).base64EncodedString()]
    }

    /// Runs with a file whose first line is the password `correct horse battery`.
    private static func withPasswordFile(_ body: (String) async throws -> Void) async throws {
        try await StateFolder.with { folder in
            let file = "\(folder.path)/password"
            try "correct horse battery\nsecond line\n".write(toFile: file, atomically: true, encoding: .utf8)
            try await body(file)
        }
    }

    private static let strict = [
        (
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
    ]

    @Test("Each answer of the pages says what a browser may load, and other methods and Hosts are refused")
    func headers() async throws {
        try await ServingBinary.run(.withoutDatabase()) { server in
            for path in Self.paths + ["/nothing", "/try?bundle=%zz"] {
                let answer = try await Self.ask(server, path)
                for (name, value) in Self.strict { #expect(answer.headers[name] == [value], "\(path)") }
                #expect(try await Self.ask(server, path, ["Host": "evil.example"]).status == 421, "\(path)")
                let head = try await Self.ask(server, path, method: .HEAD)
                #expect(head.status == answer.status)
                #expect(head.body.isEmpty)
            }
            for path in Self.paths {
                for method in [HTTPMethod.POST, .PUT, .DELETE, .OPTIONS, .PATCH] {
                    let refusal = try await Self.ask(server, path, method: method)
                    #expect(refusal.status == 405, "\(method) \(path)")
                    #expect(refusal.headers["Allow"] == ["GET, HEAD"])
                }
            }
            let lost = try await Self.ask(server, "/nothing")
            #expect(lost.status == 404)
            #expect(lost.body.contains("<a href=\"/\">Back to the overview</a>"))
            #expect(try await Self.ask(server, "/nothing", method: .POST).status == 405)
        }
    }

    @Test("HEAD is answered with the head of GET and not a byte more, whatever the answer is")
    func head() async throws {
        try await ServingBinary.run(.withoutDatabase()) { server in
            for (path, host, status) in [
                ("/", "localhost", 200), ("/assets/pages.css", "localhost", 200), ("/nothing", "localhost", 404),
                ("/history", "localhost", 503), ("/", "evil.example", 421), ("/live", "localhost", 200),
                ("//evil.example/", "localhost", 404),
                ("/try?\(String(repeating: "a=b&", count: 101))", "localhost", 400),
            ] {
                let head = "HEAD \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
                let answer = try await PlainConnection.answer(server.managementURL, to: head)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(path)")
                #expect(answer.contains("Content-Length: "), "\(path)")
                #expect(answer.hasSuffix("\r\n\r\n"), "\(path) \(host): \(answer)")
            }
        }
    }

    @Test("A page opens by a link of another site, and is part of no other site")
    func crossSite() async throws {
        try await ServingBinary.run(.withoutDatabase()) { server in
            let wanted = [
                (site: "cross-site", mode: "navigate", destination: "document", status: 200),
                (site: "same-site", mode: "navigate", destination: "document", status: 200),
                (site: "none", mode: "navigate", destination: "document", status: 200),
                (site: "same-origin", mode: "cors", destination: "empty", status: 200),
                (site: "cross-site", mode: "no-cors", destination: "image", status: 403),
                (site: "cross-site", mode: "cors", destination: "empty", status: 403),
                (site: "same-site", mode: "no-cors", destination: "script", status: 403),
                (site: "cross-site", mode: "navigate", destination: "iframe", status: 403),
            ]
            for (site, mode, destination, status) in wanted {
                let headers: HTTPHeaders = [
                    "Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": destination,
                ]
                let answer = try await Self.ask(server, "/try", headers)
                #expect(answer.status == status, "\(site) \(mode) \(destination)")
            }
        }
    }

    @Test("An address that is too long is refused, and the server goes on")
    func longAddresses() async throws {
        try await ServingBinary.run(.withoutDatabase()) { server in
            let long = try await Self.ask(server, "/try?bundle=" + String(repeating: "a", count: 9_000))
            #expect(long.status == 414)
            #expect(long.body.contains("more than 8192 bytes"))
            // The parser of HTTP ends the connection, with an answer or without.
            let huge = try? await Self.ask(server, "/try?bundle=" + String(repeating: "a", count: 1 << 20))
            #expect(huge.map { (400..<500).contains($0.status) } ?? true)
            #expect(try await Self.ask(server, "/try").status == 200)
            #expect(try await server.check(#"{"bundle":"a"}"#) == #"{"messages":[]}"#)
        }
    }

    @Test("A password is asked for where it is set, and needed where the listener is not on loopback")
    func password() async throws {
        try await Self.withPasswordFile { file in
            try await ServingBinary.run(.withoutDatabase(), arguments: ["--pages-password-file", file]) { server in
                for path in Self.paths {
                    let refusal = try await Self.ask(server, path)
                    #expect(refusal.status == 401)
                    let challenge = refusal.headers["WWW-Authenticate"].first ?? ""
                    #expect(challenge.hasPrefix("Basic realm="), "\(path)")
                    #expect(refusal.body.contains("--pages-password-file"))
                }
                for wrong in ["x:wrong", "correct horse battery", "x:", ":correct horse battery ", "x:second line"] {
                    #expect(try await Self.ask(server, "/try", Self.basic(wrong)).status == 401, "\(wrong)")
                }
                #expect(try await Self.ask(server, "/try", ["Authorization": "Bearer x"]).status == 401)
                #expect(try await Self.ask(server, "/try", ["Authorization": "Basic ?"]).status == 401)
                #expect(try await Self.ask(server, "/try", Self.basic("anybody:correct horse battery")).status == 200)
                #expect(try await Self.ask(server, "/live").status == 200, "the rest of the listener asks for none")
                #expect(try await Self.ask(server, "/nothing").status == 404)
            }
            try await ServingBinary.run(.withoutDatabase(), arguments: ["--management-host", "0.0.0.0"]) { server in
                for path in Self.paths {
                    let refusal = try await Self.ask(server, path)
                    #expect(refusal.status == 403)
                    #expect(refusal.body.contains("--pages-password-file FILE (VERSIONGATE_PAGES_PASSWORD_FILE)"))
                }
                #expect(try await Self.ask(server, "/live").status == 200)
            }
            let both = ["--management-host", "0.0.0.0", "--pages-password-file", file]
            try await ServingBinary.run(.withoutDatabase(), arguments: both) { server in
                let answer = try await Self.ask(server, "/try", Self.basic(":correct horse battery"))
                #expect(answer.status == 200)
            }
        }
    }

    @Test("An address that guesses the password is refused for a while, by the pages alone")
    func guesses() async throws {
        try await Self.withPasswordFile { file in
            try await ServingBinary.run(.withoutDatabase(), arguments: ["--pages-password-file", file]) { server in
                try await Poll.until("a right password to be refused") {
                    _ = try await Self.ask(server, "/try", Self.basic("x:wrong"))
                    let answer = try await Self.ask(server, "/try", Self.basic("x:correct horse battery"))
                    guard answer.status == 429 else { return false }
                    #expect(Int(answer.headers.first(name: "Retry-After") ?? "").map((1...10).contains) == true)
                    let told = "This address gave too many wrong passwords; the next one can be tried in "
                    #expect(answer.body.hasPrefix(told))
                    return true
                }
                #expect(try await Self.ask(server, "/ready").status == 503)
                #expect(try await Self.ask(server, "/live", Self.basic("x:wrong")).status == 200)
                try await Poll.until("a right password to be let in again") {
                    try await Self.ask(server, "/try", Self.basic("x:correct horse battery")).status == 200
                }
            }
        }
    }

    @Test(
        "Pages show what the database has, and say in words what the role of the server may not read",
        .migratedDatabase
    )
    func withDatabase() async throws {
        let database = TestDatabase.current
        let admin = BuiltBinary(database)
        for line in [
            "app add com.example.doto --name Doto --yes",
            "release add com.example.doto 1.2 --platform ios --live-at -1d --yes",
            "rule add bad --bundle com.example.doto --versions =1.1 --title T --text X --lockout --rollout 50 --enable --yes",
            "rule rollout bad 25 --yes",
        ] { try await admin.succeed(line) }
        // The rule came an hour ago, and half an hour ago its share fell.
        for (change, minutes) in [(1, 90), (2, 90), (3, 60), (4, 30)] {
            _ = try await database.psql(
                "UPDATE changes SET at = now() - interval '\(minutes) minutes' WHERE id = \(change)"
            )
        }
        let owner = try await database.connect()
        let times = try await owner.query(
            "SELECT to_char(now() AT TIME ZONE 'UTC' - m * interval '1 minute', 'YYYY-MM-DD HH24:MI') FROM unnest('{70, 45}'::int[]) AS m"
        ).map { try $0.decode(0, as: String.self).replacing(" ", with: "%20") }
        for role in ["versiongate_server", "versiongate_admin"] {
            let binary = BuiltBinary(environment: ["DATABASE_URL": database.url(user: role)])
            try await ServingBinary.run(binary) { server in
                for bundle in ["com.example.nobody", "com.example.dotto", "org.acme"] {
                    try await server.check(#"{"bundle":"\#(bundle)"}"#) { $0.contains("messages") }
                }
                let first = try await Self.ask(server, "/try")
                #expect(!first.body.contains("not reached since this server started"), "before any page has read")
                let overview = try await Self.ask(server, "/")
                #expect(overview.status == 200)
                #expect(
                    !overview.body.contains(/class="notice fault/),
                    "what a role by Install.md may not read is no fault")
                #expect(overview.body.contains("1 lockout is in force."))
                #expect(overview.body.contains("<a href=\"/apps/com.example.doto\">com.example.doto</a>"))
                let rule = try await Self.ask(server, "/rules/bad")
                #expect(rule.body.contains("25 % of the installs."))
                #expect(rule.body.contains("<code>versiongate rule disable bad</code>"), "\(rule.body)")
                #expect(!rule.body.contains("--database-url"), "address and login are those of whoever types")
                #expect(rule.body.contains("UPDATE rules SET enabled = false WHERE key = &apos;bad&apos;;"))
                let history = try await Self.ask(server, "/history")
                let past = try await Self.ask(
                    server, "/try?bundle=com.example.doto&version=1.1&platform=ios&revision=3"
                )
                var asOf: [(status: Int, body: String)] = []
                for time in times {
                    let query = "bundle=com.example.doto&version=1.1&platform=ios&as-of=\(time)"
                    let page = try await Self.ask(server, "/try?\(query)")
                    asOf.append((page.status, page.body))
                }
                if role == "versiongate_server" {
                    #expect(asOf[0].body.contains("cannot be read; the notice above says why."))
                    #expect(
                        history.body.contains("The role of this server, versiongate_server, may not read the history.")
                    )
                    #expect(history.body.contains("GRANT versiongate_viewer TO versiongate_server;"))
                    #expect(past.body.contains("Revision 3 cannot be read"))
                } else {
                    #expect(history.body.contains("changed rule bad: rollout"))
                    #expect(history.body.contains("<del>50</del>"), "before")
                    #expect(history.body.contains("versiongate undo 4"))
                    #expect(
                        past.body.contains("the rollout") || past.body.contains("50 % of the installs"), "as it was"
                    )
                    #expect(past.body.contains("by revision 3"))
                    #expect(asOf[0].body.contains("by revision 2."), "before the rule was there")
                    #expect(asOf[0].body.contains("No rule is for this app."))
                    #expect(asOf[1].body.contains("by revision 3."), "\(asOf[1].body)")
                    #expect(asOf[1].body.contains("50 % of the installs"))
                }
                #expect(try await Self.ask(server, "/apps/com.example.doto").status == 200)
                #expect(try await Self.ask(server, "/apps/com.example.doto/nothing.csv").status == 404)
                let unknowns = try await Self.ask(server, "/unknowns")
                #expect(unknowns.body.contains("com.example.nobody"), "the name that a client sent")
                #expect(unknowns.body.contains("versiongate app add com.example.nobody"))
                #expect(unknowns.body.contains("<td><code>versiongate app add org.acme"))
                #expect(unknowns.body.contains("<td>did you mean com.example.doto? If it is a different app: "))
            }
        }
    }

    @Test(
        "While more ask for pages than are read, checks are answered and the rest is told to come again",
        .migratedDatabase
    )
    func crowd() async throws {
        let binary = BuiltBinary.server()
        try await ServingBinary.run(binary) { server in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for number in 1...60 {
                    tasks.addTask { try await Self.ask(server, "/history?before=\(number)").status }
                }
                for _ in 1...20 {
                    #expect(try await server.check(#"{"bundle":"a"}"#) == #"{"messages":[]}"#)
                }
                return try await tasks.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(statuses.isSubset(of: [200, 503]), "\(statuses)")
            #expect(try await Self.ask(server, "/history").status == 200)
        }
    }
}
