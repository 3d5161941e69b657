import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

/// What the screens say of now, beside what clients were answered.
@Suite("What is so now", .whole, .migratedDatabase, .timeLimit(.minutes(20)))
struct NowTests {
    private static let setup = [
        """
        INSERT INTO apps (bundle) VALUES ('shop'), ('bank'), ('desk'), ('fleet');
        INSERT INTO releases (bundle, platform, version, live_at)
        SELECT bundle, 'ios', '2', now() - interval '9 days' FROM apps
        """,
        """
        INSERT INTO rules (key, bundle, versions, lockout, enabled, title, text)
        VALUES ('old', 'shop', '<0.5', true, true, 'T', 'X')
        """,
    ]

    private static let onlyOld = "<h1 id=\"heading\">1 lockout is in force.</h1>"

    private let versiongate = BuiltBinary(.current)

    /// What clients were answered, in the time of the test: in minutes, and whether they were locked out, by app.
    private struct Answers {
        var all: [(app: String, minute: Double, isLockedOut: Bool)] = []

        /// The share of an app's checks of the ten minutes before a time that were locked out, of those since another. Whole
        /// minutes are counted, and one may begin amid the checks of a time, so the first ones may be left out of what was
        /// nine to ten minutes ago, and of a little less as the test takes time.
        func shares(of app: String, at minute: Double, since start: Double) -> Set<String> {
            let counted = all.filter { $0.app == app && $0.minute > minute - 10 && $0.minute >= start }
            let shares = (0...counted.count { $0.minute <= minute - 8.5 }).map { number in
                let rest = counted.dropFirst(number)
                let part = Double(rest.count(where: \.isLockedOut)) / Double(rest.count)
                return "\((part * 1_000).rounded() / 10) % of \(rest.count)"
            }
            return Set(shares)
        }
    }

    /// Asks for each app, `old` of 40 with a version that `bad` locks out, and waits until that is counted.
    private static func ask(
        _ server: ServingBinary,
        _ owner: PostgresConnection,
        _ answers: inout Answers,
        at minute: Double
    ) async throws {
        let sum = "SELECT coalesce(sum(checks), 0)::int8 FROM check_counts"
        let before = try await owner.query(sum).value(as: Int64.self)
        for number in 0..<40 {
            for app in ["shop", "bank", "desk", "fleet"] {
                let version = app == "shop" ? (number < 3 ? "0.4" : "2") : number < 36 ? "1" : "2"
                let body = #"{"bundle":"\#(app)","version":"\#(version)","platform":"ios","install":"\#(number)"}"#
                let answer = try await server.check(body)
                answers.all.append((app, minute, answer.contains(#""lockout":true"#)))
            }
        }
        try await Poll.until("that the checks are counted") {
            try await owner.query(sum).value(as: Int64.self) == before + 160
        }
    }

    /// Makes all that was written older, as if the clock had gone on by so many minutes.
    private static func wait(_ minutes: Double, _ owner: PostgresConnection) async throws {
        try await owner.execute(
            """
            UPDATE changes SET at = at - interval '\(minutes) minutes';
            UPDATE lockout_counts SET minute = minute - interval '100 days \(minutes) minutes';
            UPDATE lockout_counts SET minute = minute + interval '100 days'
            """
        )
    }

    private func row(of rule: String) async throws -> Substring? {
        let status = try await versiongate.run("status").output
        return status.split(separator: "\n").first { $0.contains(" \(rule) ") }
    }

    @Test("What screens say of now is what clients are answered, from a lockout of one app of four to its cure and on")
    func agreesWithClients() async throws {
        let database = TestDatabase.current
        try await database.edit(Self.setup)
        let owner = try await database.connect()
        let served = BuiltBinary.server()
        try await ServingBinary.run(served, arguments: ["--count-interval", "1"]) { server in
            var (answers, minute, started) = (Answers(), 0.0, 0.0)
            func go(on minutes: Double) async throws {
                try await Self.wait(minutes, owner)
                minute += minutes
            }
            /// A page of this moment: those of the last five seconds are kept.
            func page(_ path: String, with texts: Set<String>) async throws -> String {
                var body = ""
                try await Poll.until("\(texts) on \(path)") {
                    body = try await server.management(path).body
                    return texts.contains { body.contains($0) }
                }
                return body
            }
            // An old lockout of 7.5 % of another app is nothing new.
            for _ in 0..<3 {
                try await Self.ask(server, owner, &answers, at: minute)
                try await go(on: 1_400)
            }
            try await Self.ask(server, owner, &answers, at: minute)
            let calm = try await page("/", with: [Self.onlyOld])
            #expect(calm.contains("7.5 % of 40") && !calm.contains("tag alert"), "\(calm)")

            try await database.edit(
                """
                INSERT INTO rules (key, bundle, versions, lockout, enabled, title, text)
                VALUES ('bad', 'desk', '<2', true, true, 'T', 'X')
                """
            )
            let change = try await database.revision()
            _ = try await server.ready { $0.contains("\"revision\":\(change)") }
            started = minute + 0.01
            print("now: a lockout hits 90 % of desk, one app of four")
            for moment in [0.33, 1, 3, 10, 60] {
                try await go(on: started + moment - minute)
                try await Self.ask(server, owner, &answers, at: minute)
                let truths = answers.shares(of: "desk", at: minute, since: started)
                let overview = try await page(
                    "/", with: Set(truths.map { "<span class=\"tag alert\">\($0) checks</span>" }))
                let sentences = truths.map { "\($0.replacing(" of ", with: " of the ")) checks of the last 10 minutes" }
                let rule = try await page("/rules/bad", with: Set(sentences))
                // The pages are asked until the counts are written.
                let status = try await row(of: "bad") ?? "-"
                print("now: after \(moment) min true \(truths); status: \(status)")
                #expect(truths.contains { status.hasPrefix("\($0) ") }, "\(moment): \(status), true \(truths)")
                #expect(overview.contains("<h1 id=\"heading\">2 lockouts are in force.</h1>"), "\(overview)")
                for page in [overview, rule] {
                    #expect(page.contains("change \(change)</a> by versiongate_admin"), "\(page)")
                }
                #expect(overview.contains("<code>versiongate rule disable bad"))
                // The worst first.
                let (bad, old) = (overview.range(of: "/rules/bad"), overview.range(of: "/rules/old"))
                #expect(bad?.lowerBound ?? overview.endIndex < old?.lowerBound ?? overview.endIndex)
                let rows = try await versiongate.run("status").output.split(separator: "\n")
                let place = { (key: String) in rows.firstIndex { $0.contains(" \(key) ") } ?? .max }
                #expect(place("bad") < place("old"))
            }

            try await versiongate.succeed("rule disable bad --yes")
            _ = try await server.ready { $0.contains("\"revision\":\(change + 1)") }
            let cured = minute + 0.01
            for moment in [0.33, 1, 3, 10, 60] {
                try await go(on: cured + moment - minute)
                let overview = try await page("/", with: [Self.onlyOld])
                let rule = try await page("/rules/bad", with: [">disabled</span>"])
                let status = try await row(of: "bad")
                print("now: after the cure and \(moment) min: status: \(status ?? "not in it")")
                #expect(status == nil)
                #expect(!overview.contains("tag alert") && !overview.contains("rule disable bad"), "\(overview)")
                #expect(!rule.contains("Locked out now"), "\(rule)")
            }
        }
    }
}
