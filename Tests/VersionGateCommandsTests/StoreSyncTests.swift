import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import TestDatabase
import TestRandom
import TestSystem
import Testing
import UpdatePolicy

@testable import VersionGateCommands

/// `store sync` against a stand-in for the App Store that behaves, and one that lies.
@Suite("Store sync", .whole, .migratedDatabase)
struct StoreSyncTests {
    private static let app = "INSERT INTO apps (bundle, store_id) VALUES ('com.example.doto', 1234567890)"

    private static func results(_ version: String, minOS: String = "15.0", bundle: String = "com.example.doto")
        -> String
    {
        """
        {"resultCount":1,"results":[{"kind":"software","bundleId":"\(bundle)","version":"\(version)",\
        "minimumOsVersion":"\(minOS)","currentVersionReleaseDate":"2099-01-01T00:00:00Z","trackId":1234567890}]}
        """
    }

    private static let empty = #"{"resultCount":0,"results":[]}"#

    /// Runs `body` with a command that makes a pass at a stand-in.
    private func withStore(
        answering answer: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer,
        _ body:
            @escaping @Sendable (ScriptedServer, _ sync: (String) async throws -> BuiltBinary.Result) async throws ->
            Void
    ) async throws {
        let binary = BuiltBinary(.current)
        try await ScriptedServer.run(answering: answer) { server, port in
            try await StateFolder.with { folder in
                try await body(server) { options in
                    let place = "--store-url http://127.0.0.1:\(port)/ --state-dir \(folder.path)"
                    return try await binary.run("store sync \(place) \(options)")
                }
            }
        }
    }

    private func rows() async throws -> String {
        try await TestDatabase.current.psql(
            """
            SELECT string_agg(concat_ws(' ', platform, version, min_os, array_to_string(regions, '+')), ', ' ORDER BY id)
            FROM releases
            """
        ).output.trimmingCharacters(in: .newlines)
    }

    @Test("A new version becomes a release that is live from now on, and a pass without news prints nothing")
    func records() async throws {
        try await TestDatabase.current.edit(Self.app)
        try await withStore(answering: { request in
            request.headers.contains(name: "If-None-Match")
                ? .response(.notModified) : .response(.ok, ["ETag": "\"1\""], Self.results("1.2"))
        }) { server, sync in
            let first = try await sync("")
            #expect(
                first.status == 0 && first.output.contains("Added release com.example.doto 1.2 ios"), "\(first.errors)"
            )
            let request = try #require(server.takeRequests().first)
            #expect(request.target == "/lookup?id=1234567890" && request.method == .GET)
            #expect(request.headers.first(name: "Accept-Encoding") == "identity")
            #expect(try await rows() == "ios 1.2 15.0")
            let change = try await TestDatabase.current.psql(
                "SELECT tool, (SELECT now() - live_at < interval '1 hour' FROM releases) FROM changes WHERE id = 2"
            )
            #expect(change.output == "store|t\n")

            for options in ["", "com.example.DOTO", "--dry-run"] {
                let again = try await sync(options)
                #expect(again.status == 0 && again.output.isEmpty && again.errors.isEmpty, "\(again.errors)")
                #expect(server.takeRequests().map { $0.headers.first(name: "If-None-Match") } == ["\"1\""])
            }
            #expect(try await TestDatabase.current.revision() == 2)
        }
    }

    @Test("A release is recorded for the countries that have it, and for others from when they have it")
    func countries() async throws {
        try await TestDatabase.current.edit(Self.app)
        let everywhere = Atomic(false)
        try await withStore(answering: { request in
            let has = everywhere.load(ordering: .relaxed) || !request.target.hasSuffix("&country=DE")
            return .response(.ok, [:], has ? Self.results("1.2") : Self.empty)
        }) { server, sync in
            let options = "--country US --country DE --country JP"
            let first = try await sync(options)
            #expect(first.status == 0)
            #expect(
                first.errors == "Warning: the store of DE was asked for com.example.doto: it does not have the app\n"
            )
            #expect(server.takeRequests().count == 3)
            #expect(try await rows() == "ios 1.2 15.0 JP+US")
            everywhere.store(true, ordering: .relaxed)
            for _ in 0..<2 { #expect(try await sync(options).errors.isEmpty) }
            #expect(try await rows() == "ios 1.2 15.0 JP+US, ios 1.2 15.0 DE")
        }
    }

    @Test("What a person left open is completed, and what a person wrote, cleared, withdrew or removed stays so")
    func completes() async throws {
        try await TestDatabase.current.edit(Self.app)
        let version = Mutex("1.1")
        try await withStore(answering: { _ in .response(.ok, [:], Self.results(version.withLock { $0 })) }) { _, sync in
            func expect(_ next: String, after edit: String, _ columns: String, _ wanted: String) async throws {
                version.withLock { $0 = next }
                try await TestDatabase.current.edit(edit)
                for _ in 0..<2 {
                    let pass = try await sync("")
                    #expect(pass.status == 0, "\(pass.errors)")
                }
                let row = try await TestDatabase.current.psql(
                    "SELECT coalesce(string_agg(\(columns), ','), 'none') FROM releases WHERE version_compare(version, '\(next)') = 0"
                )
                #expect(row.output == "\(wanted)\n", "\(next)")
            }
            func insert(_ columns: String, _ values: String) -> String {
                "INSERT INTO releases (bundle, platform, version\(columns)) VALUES ('com.example.doto', 'ios', \(values))"
            }
            let all = "concat_ws(' ', version, min_os, live_at IS NOT NULL, staged, withdrawn_at IS NOT NULL)"
            try await expect("1.1", after: insert("", "'1.1.0'"), all, "1.1.0 15.0 t f f")
            try await expect(
                "1.2", after: insert(", min_os, regions, live_at", "'1.2', '16', '{JP}', '2026-01-01Z'"),
                "concat_ws(' ', min_os, array_to_string(regions, '+'), live_at = '2026-01-01Z')", "16 JP t"
            )
            try await expect("1.3", after: insert(", staged", "'1.3', true"), all, "1.3 f t f")
            try await expect(
                "1.4", after: insert(", live_at, withdrawn_at", "'1.4', '2026-01-01Z', '2026-01-02Z'"), all, "1.4 t f t"
            )
            try await expect("1.5", after: "UPDATE apps SET name = 'a'", all, "1.5 15.0 t f f")
            try await expect("1.5", after: "UPDATE releases SET min_os = NULL WHERE version = '1.5'", all, "1.5 t f f")
            try await expect("1.5", after: "DELETE FROM releases WHERE version = '1.5'", all, "none")
        }
    }

    /// An answer, and what is said of it.
    private struct Lie: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: ScriptedServer.Answer
        let words: String

        init(_ name: String, _ answer: ScriptedServer.Answer, _ words: String) {
            (testDescription, self.answer, self.words) = (name, answer, words)
        }
    }

    private static let lies = [
        Lie("an empty result", .response(.ok, [:], empty), "it does not have the app"),
        Lie("another app", .response(.ok, [:], results("9", bundle: "a.b")), "its answer is about a.b"),
        Lie(
            "another app with a long name",
            .response(.ok, [:], results("9", bundle: "a\\n\\u001b" + String(repeating: "b", count: 900_000))),
            "its answer is about a"
        ),
        Lie("an old version", .response(.ok, [:], results("1.1")), "older than 1.2, which is recorded"),
        Lie(
            "an app for macOS", .response(.ok, [:], results("2").replacing("\"software\"", with: "\"mac-software\"")),
            "another platform (mac-software)"
        ),
        Lie(
            "no least system", .response(.ok, [:], results("2").replacing(#","minimumOsVersion":"15.0""#, with: "")),
            "its answer does not say which system 2 needs"
        ),
        Lie(
            "an empty least system", .response(.ok, [:], results("2", minOS: "")),
            "its answer does not say which system 2 needs"
        ),
        Lie(
            "a number that nobody counts to",
            .response(.ok, [:], results("1.99999999999999999999")),
            "far above 1.2, the newest that is recorded; if this is intended: versiongate release add com.example.doto "
                + "1.99999999999999999999 --platform ios --min-os 15.0"
        ),
        Lie(
            "words of the shell", .response(.ok, [:], results("1.99 (1)")),
            "release add com.example.doto '1.99 (1)' --platform ios"
        ),
        Lie("a far version", .response(.ok, [:], results("20260101")), "far above 1.2, the newest that is recorded"),
        Lie("no version", .response(.ok, [:], results("latest")), "\"latest\" in its answer is not a version"),
        Lie("a strange system", .response(.ok, [:], results("2", minOS: "x")), "\"x\" in its answer is not a version"),
        Lie("HTML", .response(.ok, ["Content-Type": "text/html"], "<html>"), "its answer is not that of a look-up"),
        Lie("no results", .response(.ok, [:], #"{"results":{}}"#), "its answer is not that of a look-up"),
        Lie(
            "nesting", .response(.ok, [:], String(repeating: "[", count: 1 << 19)),
            "its answer is not that of a look-up"
        ),
        Lie("40 MB", .response(.ok, [:], String(repeating: " ", count: 40 << 20)), "its answer is larger than 1 MiB"),
        Lie("compression", .response(.ok, ["Content-Encoding": "gzip"], "\u{1f}"), "its answer is compressed"),
        Lie(
            "a redirection", .response(.movedPermanently, ["Location": "https://b.example/"]),
            "it redirects to https://b.example/; give the new address"
        ),
        Lie(
            "a long redirection",
            .response(.movedPermanently, ["Location": "https://b.example/" + String(repeating: "c", count: 20_000)]),
            "it redirects to https://b.example/cc"
        ),
        Lie("an error", .response(.internalServerError), "it answers 500 Internal Server Error"),
        Lie("304 to nothing", .response(.notModified), "it answers 304 to a question without an ETag"),
        Lie("no answer", .end, "it closed the connection without an answer"),
    ]

    @Test("An answer that cannot be right changes nothing, and is said", arguments: lies)
    private func refusesLies(_ lie: Lie) async throws {
        try await TestDatabase.current.edit(
            Self.app,
            "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('com.example.doto', 'ios', '1.2', '2026-01-01Z')",
            "INSERT INTO apps (bundle, store_id) VALUES ('com.example.other', 2)"
        )
        let other = Self.results("3", bundle: "com.example.other")
        try await withStore(answering: { $0.target == "/lookup?id=2" ? .response(.ok, [:], other) : lie.answer }) {
            _,
            sync in
            let pass = try await sync("")
            #expect(pass.status == 1 && pass.errors.utf8.count < 1_000, "\(pass.errors.prefix(1_000))")
            let text = pass.errors.replacing("\n", with: " ")
            #expect(text.contains("com.example.doto") && text.contains(lie.words), "\(pass.errors)")
            #expect(try await rows() == "ios 1.2, ios 3 15.0")
        }
    }

    /// Versions that are known, a version, and whether it follows from them.
    private static let successors: [(known: [String], next: String, follows: Bool)] = [
        (["9.45"], "9.46", true), (["9.45"], "9.45.1", true), (["9.45"], "10.0", true), (["9.45"], "9.65", true),
        (["9.45"], "44", false), (["9.45"], "219", false), (["9.45"], "9.99", false), (["9.45"], "9.46.99", false),
        (["9.45"], "9.99999999999999999999", false), (["9.45"], "11", false), (["9.45"], "10.99", false),
        (["1.9", "1.10"], "2.0", true), (["2.0"], "10.0", false), (["440.0"], "441.0", true),
        (["2026.7.1"], "2026.8.1", true), (["2026.8.1"], "2027.1.0", true), (["2026.8.1"], "20261.1", false),
        (["26.12"], "27.1", true), (["20260701"], "20270105", true), (["20260701"], "30000101", false),
        (["1.2.20260701"], "1.2.20260815", true), (["1.2.20260701"], "1.3.20270105", true),
        (["1.2"], "1.2.20260701", false),
        (["4.5.6099"], "4.6.6723", true), (["4.5.6099"], "4.6.60990", false), (["3.0", "2.9.80"], "3.0.90", true),
        (["1.0.202607011230"], "1.0.202608021230", true), (["v1.2-beta"], "1.3", true), (["1.2.3.4"], "1.2.3.5", true),
        ([], "1.0", true), ([], "2026.8.1", true), ([], "1.2.20260701", true), ([], "9.9999999999", false),
        ([], "99999999999999999999", false),
    ]

    @Test("A version follows from those that are known if none of its numbers leaps", arguments: successors)
    func leaps(known: [String], next: String, follows: Bool) {
        let release = StoreRelease(version: next, minOS: "15")
        #expect(release.leaps(above: known.compactMap { AppVersion($0) }) != follows, "\(next) after \(known)")
    }

    @Test("No series of answers within a day leads far away, and what a person enters is where it goes on")
    func series() async throws {
        try await TestDatabase.current.edit(Self.app)
        let version = Mutex("9.45")
        try await withStore(answering: { _ in .response(.ok, [:], Self.results(version.withLock { $0 })) }) { _, sync in
            for (next, status, wanted) in [
                ("9.45", 0, "9.45"), ("10.1", 0, "9.45,10.1"), ("11", 1, "9.45,10.1"), ("44", 1, "9.45,10.1"),
                ("219", 1, "9.45,10.1"), ("10.2.1", 0, "9.45,10.1,10.2.1"), ("10.99", 1, "9.45,10.1,10.2.1"),
            ] {
                version.withLock { $0 = next }
                let pass = try await sync("")
                #expect(pass.status == status, "\(next): \(pass.errors)")
                let rows = "SELECT string_agg(version, ',' ORDER BY id) FROM releases"
                #expect(try await TestDatabase.current.psql(rows).output == "\(wanted)\n", "\(next)")
            }
            try await TestDatabase.current.edit(
                "INSERT INTO releases (bundle, platform, version, min_os, live_at) VALUES ('com.example.doto', 'ios', '44', '15', now())"
            )
            version.withLock { $0 = "45" }
            #expect(try await sync("").status == 0)
        }
    }

    @Test("A store that asks to wait is asked nothing more, also by the next pass")
    func waits() async throws {
        try await TestDatabase.current.edit(Self.app)
        for field in ["3600", "Fri, 31 Dec 2099 23:59:59 GMT"] {
            try await withStore(answering: { _ in .response(.tooManyRequests, ["Retry-After": field]) }) {
                server,
                sync in
                for (requests, words) in [(1, "it answers 429 Too Many Requests"), (0, "it asks to wait until ")] {
                    let pass = try await sync("")
                    #expect(pass.status == 1 && pass.errors.contains(words), "\(pass.errors)")
                    #expect(server.takeRequests().count == requests)
                }
            }
        }
    }

    @Test("At most four questions are open at a time, and one that is not answered ends")
    func stalls() async throws {
        try await ScriptedServer.run(answering: { _ in .silence }) { server, port in
            let lookup = StoreLookup(base: "http://127.0.0.1:\(port)", folder: nil, limit: .milliseconds(500))
            let questions = (1...6).map { StoreQuestion(bundle: "a", storeID: Int64($0), country: nil) }
            async let answers = lookup.answers(to: questions)
            var open = 0
            try await Poll.until("four questions") {
                open += server.takeRequests().count
                return open >= 4
            }
            #expect(open == 4)
            for (_, answer) in await answers {
                guard case .refused(let reason) = answer else {
                    Issue.record("\(answer)")
                    continue
                }
                #expect(reason.hasPrefix("it does not answer within"))
            }
            #expect(server.takeRequests().count == 2)
        }
    }

    @Test("An address names host, port and path, also of IPv6")
    func addresses() throws {
        let whole = try #require(HTTPExchange.Address("HTTPS://[::1]:8443/a%20b?c"))
        #expect(whole.isSecure && whole.host == "::1" && whole.port == 8443 && whole.path == "/a%20b?c")
        let short = try #require(HTTPExchange.Address("http://a.example/lookup"))
        #expect(!short.isSecure && short.host == "a.example" && short.port == 80)
        for text in ["http:///lookup", "a.example", "a.example:80", "ftp://a.example"] {
            #expect(HTTPExchange.Address(text) == nil)
        }
    }

    @Test(
        "What cannot be asked is refused",
        arguments: [
            ("--country jp", 64, "write two upper-case letters of ISO 3166-1"),
            ("--store-url itunes.apple.com", 64, "--store-url is \"itunes.apple.com\"; write the whole address"),
            ("com.example.doti", 1, "did you mean com.example.doto?"),
        ]
    )
    func refusals(_ options: String, _ status: Int, _ words: String) async throws {
        try await TestDatabase.current.edit("INSERT INTO apps (bundle) VALUES ('com.example.doto')")
        let result = try await BuiltBinary(.current).run("store sync \(options)")
        #expect(result.status == status && result.errors.replacing("\n", with: " ").contains(words), "\(result.errors)")
    }
}
