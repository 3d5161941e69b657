// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import TestDatabase
import TestRandom
import TestSystem
import Testing

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
                first.status == 0 && first.output.contains("Added release com.example.doto 1.2 ios"),
                "\(first.errors)"
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
                "1.2",
                after: insert(", min_os, regions, live_at", "'1.2', '16', '{JP}', '2026-01-01Z'"),
                "concat_ws(' ', min_os, array_to_string(regions, '+'), live_at = '2026-01-01Z')",
                "16 JP t"
            )
            try await expect("1.3", after: insert(", staged", "'1.3', true"), all, "1.3 f t f")
            try await expect(
                "1.4",
                after: insert(", live_at, withdrawn_at", "'1.4', '2026-01-01Z', '2026-01-02Z'"),
                all,
                "1.4 t f t"
            )
            try await expect("1.5", after: "UPDATE apps SET name = 'a'", all, "1.5 15.0 t f f")
            try await expect("1.5", after: "UPDATE releases SET min_os = NULL WHERE version = '1.5'", all, "1.5 t f f")
            try await expect("1.5", after: "DELETE FROM releases WHERE version = '1.5'", all, "none")
        }
    }

    /// An answer, what is said of it, and whether somebody must look.
    private struct Lie: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: ScriptedServer.Answer
        let words: String
        var isFailure = true

        init(_ name: String, _ answer: ScriptedServer.Answer, _ words: String, isFailure: Bool = true) {
            (testDescription, self.answer, self.words, self.isFailure) = (name, answer, words, isFailure)
        }
    }

    private static let lies = [
        Lie("an empty result", .response(.ok, [:], empty), "it does not have the app", isFailure: false),
        Lie(
            "another app",
            .response(.ok, [:], results("9", bundle: "a.b")),
            "its answer is about a.b",
            isFailure: false
        ),
        Lie(
            "an old version",
            .response(.ok, [:], results("1.1")),
            "older than 1.2, which is recorded",
            isFailure: false
        ),
        Lie(
            "an app for macOS",
            .response(.ok, [:], results("2").replacing("\"software\"", with: "\"mac-software\"")),
            "another platform (mac-software)",
            isFailure: false
        ),
        Lie("a far version", .response(.ok, [:], results("20260101")), "far above 1.2, the newest that is recorded"),
        Lie("no version", .response(.ok, [:], results("latest")), "\"latest\" in its answer is not a version"),
        Lie("a strange system", .response(.ok, [:], results("2", minOS: "x")), "\"x\" in its answer is not a version"),
        Lie("HTML", .response(.ok, ["Content-Type": "text/html"], "<html>"), "its answer is not that of a look-up"),
        Lie("no results", .response(.ok, [:], #"{"results":{}}"#), "its answer is not that of a look-up"),
        Lie(
            "nesting",
            .response(.ok, [:], String(repeating: "[", count: 1 << 19)),
            "its answer is not that of a look-up"
        ),
        Lie("40 MB", .response(.ok, [:], String(repeating: " ", count: 40 << 20)), "its answer is larger than 1 MiB"),
        Lie("compression", .response(.ok, ["Content-Encoding": "gzip"], "\u{1f}"), "its answer is compressed"),
        Lie(
            "a redirection",
            .response(.movedPermanently, ["Location": "https://b.example/"]),
            "it sends on to https://b.example/; give the address"
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
            #expect(pass.status == (lie.isFailure ? 1 : 0), "\(pass.errors)")
            let text = pass.errors.replacing("\n", with: " ")
            #expect(text.contains("com.example.doto") && text.contains(lie.words), "\(pass.errors)")
            #expect(try await rows() == "ios 1.2, ios 3 15.0")
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
            for (_, answer) in try await answers {
                guard case .failed(let reason) = answer else {
                    Issue.record("\(answer)")
                    continue
                }
                #expect(reason.hasPrefix("it does not answer within"))
            }
            #expect(server.takeRequests().count == 2)
        }
    }

    @Test(
        "What cannot be asked is refused",
        arguments: [
            ("--country jp", 64, "write two upper-case letters of ISO 3166-1"),
            ("--store-url itunes.apple.com", 64, "--store-url is \"itunes.apple.com\"; write the whole address"),
            ("", 1, "of no app is the number in the App Store known"),
            ("com.example.doti", 1, "did you mean com.example.doto?"),
        ]
    )
    func refusals(_ options: String, _ status: Int, _ words: String) async throws {
        try await TestDatabase.current.edit("INSERT INTO apps (bundle) VALUES ('com.example.doto')")
        let result = try await BuiltBinary(.current).run("store sync \(options)")
        #expect(result.status == status && result.errors.replacing("\n", with: " ").contains(words), "\(result.errors)")
    }
}
