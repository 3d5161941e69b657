import Postgres
import TestDatabase
import TestPolicies
import Testing
import UpdatePolicy

/// What `check --explain` shows in the situations that people ask about most, to the word.
@Suite("Explanations", .migratedDatabase)
struct ExplanationTests {
    /// A rule, the releases, a client, and the row that explains what became of the rule.
    struct Example: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let policy: Policy
        let check: Check
        let row: Answer.Row

        /// The row begins with the outcome; position and key are those of the rule.
        init(
            _ description: String,
            _ rule: Rule,
            releases: [Release] = [],
            _ members: KeyValuePairs<String, MemberLiteral>,
            seconds: Int64 = 0,
            _ row: [UTF8Text?]
        ) {
            testDescription = description
            policy = Policy(
                revision: 0, token: "", apps: [App(bundle: TestPolicy.bundle)], releases: releases, rules: [rule]
            )
            var client = ClientDescription(members)
            client.append("bundle", .text(TestPolicy.bundle))
            check = Check(client: client, time: TestPolicy.noon.advanced(byMicroseconds: seconds * 1_000_000))
            self.row = ["0", UTF8Text(rule.key)] + row
        }
    }

    private static func rule(_ key: String = "r", _ change: (inout Rule) -> Void) -> Rule {
        TestPolicy.rule(key, change)
    }

    private static let lockout = rule {
        $0.versions = "<1.2"
        $0.lockout = true
    }

    static let examples: [Example] = [
        Example(
            "below the target, on an operating system that the release does not support", rule { $0.target = "1.2" },
            releases: [TestPolicy.release("1.2") { $0.minOS = "15" }],
            ["version": "1.1", "platform": "ios", "os": "14.8"],
            ["no match", "target", ">=1.2", nil, nil, "100", "1.2: os 15"]
        ),
        Example(
            "with a version that cannot be read, under a range", rule { $0.versions = "<10.17" },
            ["version": "2.1.3.alpha.42"],
            ["no match", "versions", "<10.17", "2.1.3.alpha.42 (cannot be read as a version)", nil, "100", nil]
        ),
        Example(
            "with a version that cannot be read, under a target", rule { $0.target = "1.2" },
            releases: [TestPolicy.release("1.2")], ["version": "5.1.4 [2195]", "platform": "ios"],
            ["no match", "target", "<1.2", "5.1.4 [2195] (cannot be read as a version)", nil, "100", nil]
        ),
        Example(
            "with a build that cannot be read", rule { $0.builds = "<42" }, ["build": "41_a"],
            ["no match", "builds", "<42", "41_a (cannot be read as a version)", nil, "100", nil]
        ),
        Example(
            "with a version of the operating system that cannot be read", rule { $0.os = "<15" },
            ["os": "Version 17.2 (Build 21C62)"],
            ["no match", "os", "<15", "Version 17.2 (Build 21C62) (cannot be read as a version)", nil, "100", nil]
        ),
        Example(
            "with the number of no system, under a range", rule { $0.os = "<14" },
            ["platform": "MacOS", "os": "21.6.0"],
            ["no match", "os", "<14", "21.6.0 (no version of macos)", nil, "100", nil]
        ),
        Example(
            "with the number of no system, under a lockout whose way out asks for a system", lockout,
            releases: [TestPolicy.release("1.2") { $0.minOS = "15" }],
            ["version": "1.1", "platform": "iPadOS", "os": "21.6"],
            ["sent without lockout", "lockout", "a way out", "no offer, os 21.6 (no version of ios)", nil, "100", nil]
        ),
        Example(
            "with the number of no system, under a target", rule { $0.target = "1.2" },
            releases: [TestPolicy.release("1.2") { $0.minOS = "15" }],
            ["version": "1.1", "platform": "ios", "os": "21.6"], ["sent", nil, nil, nil, nil, "100", "1.2"]
        ),
        Example(
            "in a region where the release is not live yet",
            rule { $0.target = "1.2" },
            releases: [
                TestPolicy.release("1.1"),
                TestPolicy.release("1.2") {
                    $0.regions = ["JP"]
                    $0.build = "42"
                    $0.liveAt = TestPolicy.noon.advanced(byMicroseconds: 1)
                },
            ],
            ["version": "1.1", "platform": "ios", "region": "ja_JP"],
            ["no match", "target", ">=1.2", "1.1", nil, "100", "1.2 (42): live from 2026-03-01T12:00:00.000001Z"]
        ),
        Example(
            "in a region that the release is not for", rule { $0.target = "1.2" },
            releases: [TestPolicy.release("1.2") { $0.regions = ["US", "CA"] }],
            ["version": "1.1", "platform": "ios", "region": "ja_JP"],
            ["no match", "target", ">=1.2", nil, nil, "100", "1.2: region US, CA"]
        ),
        Example(
            "offered by two rows alike, of which the first counts",
            rule { $0.target = "1.1" },
            releases: [
                TestPolicy.release("1.2") { $0.build = "42" }, TestPolicy.release("1.2") { $0.build = "42.0" },
            ],
            ["version": "1", "platform": "ios"],
            ["sent", nil, nil, nil, nil, "100", "1.2 (42)"]
        ),
        Example(
            "at the target already", rule { $0.target = "1.2" }, ["version": "v1.2.0"],
            ["no match", "target", "<1.2", "v1.2.0", nil, "100", nil]
        ),
        Example(
            "bucket 2499 at 25 %", rule("ramp") { $0.rollout = Percentage("25") ?? .zero }, ["install": "install-2279"],
            ["sent", nil, nil, nil, "2499", "25", nil]
        ),
        Example(
            "bucket 2500 at 25 %", rule("ramp") { $0.rollout = Percentage("25") ?? .zero }, ["install": "install-5657"],
            ["no match", "rollout", "bucket < 2500", "2500", "2500", "25", nil]
        ),
        Example(
            "no install at 50 %", rule { $0.rollout = Percentage("50") ?? .zero }, [:],
            ["no match", "rollout", "bucket < 5000", nil, nil, "50", nil]
        ),
        Example(
            "one second before a start", rule { $0.startsAt = TestPolicy.noon }, [:], seconds: -1,
            ["no match", "starts_at", "from 2026-03-01T12:00:00Z", "2026-03-01T11:59:59Z", nil, "100", nil]
        ),
        Example(
            "one second after a start", rule { $0.startsAt = TestPolicy.noon }, [:], seconds: 1,
            ["sent", nil, nil, nil, nil, "100", nil]
        ),
        Example(
            "one second before an end", rule { $0.endsAt = TestPolicy.noon }, [:], seconds: -1,
            ["sent", nil, nil, nil, nil, "100", nil]
        ),
        Example(
            "one second after an end", rule { $0.endsAt = TestPolicy.noon }, [:], seconds: 1,
            ["no match", "ends_at", "until 2026-03-01T12:00:00Z", "2026-03-01T12:00:01Z", nil, "100", nil]
        ),
        step(seconds: -1, ["no match", "rollout", "bucket < 0", "2499", "2499", "0", nil]),
        step(seconds: 1, ["sent", nil, nil, nil, "2499", "25", nil]),
        soak(seconds: -1, ["no match", "target", ">=1.2", nil, nil, "100", "1.2: soaks until 2026-03-01T12:00:00Z"]),
        soak(seconds: 1, ["sent", nil, nil, nil, nil, "100", "1.2"]),
        Example(
            "a target whose release was withdrawn before it was live",
            rule { $0.target = "1.2" },
            releases: [
                TestPolicy.release("1.2") {
                    $0.liveAt = TestPolicy.hours(1)
                    $0.withdrawnAt = TestPolicy.hours(1)
                }
            ],
            ["version": "1.1", "platform": "ios"],
            ["no match", "target", ">=1.2", nil, nil, "100", nil]
        ),
        Example(
            "a lockout with a way out", lockout, releases: [TestPolicy.release("1.2") { $0.build = "42" }],
            ["version": "1.1", "platform": "ios"], ["sent", nil, nil, nil, nil, "100", "1.2 (42)"]
        ),
        Example(
            "a lockout without an offer", lockout, releases: [TestPolicy.release("1.2") { $0.staged = true }],
            ["version": "1.1", "platform": "ios"],
            ["sent without lockout", "lockout", "a way out", "no offer", nil, "100", nil]
        ),
        Example(
            "a lockout whose offer is not above the client",
            rule {
                $0.versions = "1.2"
                $0.lockout = true
            },
            releases: [TestPolicy.release("1.1")],
            ["version": "1.2", "platform": "ios"],
            ["sent without lockout", "lockout", "a way out", "the offer is not above the client", nil, "100", "1.1"]
        ),
        Example(
            "a lockout that the offer is under itself",
            rule {
                $0.versions = "1.0 || 1.2"
                $0.lockout = true
            },
            releases: [TestPolicy.release("1.1"), TestPolicy.release("1.2")],
            ["version": "1.0", "platform": "ios"],
            ["sent without lockout", "lockout", "a way out", "the rule matches the offer", nil, "100", "1.2"]
        ),
    ]

    private static func step(seconds: Int64, _ row: [UTF8Text?]) -> Example {
        Example(
            "one second \(seconds < 0 ? "before" : "after") a step",
            rule("ramp") {
                $0.rollout = Percentage("24.99") ?? .zero
                $0.steps = [RolloutStep(at: TestPolicy.noon, rollout: Percentage("25") ?? .zero)]
            },
            ["install": "install-2279"],
            seconds: seconds,
            row
        )
    }

    private static func soak(seconds: Int64, _ row: [UTF8Text?]) -> Example {
        Example(
            "one second \(seconds < 0 ? "before" : "after") the end of a soak",
            rule {
                $0.target = "1.2"
                $0.soak = DayTimeInterval(microseconds: 86_400_000_000)
            },
            releases: [TestPolicy.release("1.2")],
            ["version": "1.1", "platform": "ios"],
            seconds: seconds,
            row
        )
    }

    @Test("SQL and the engine say the same, to the word")
    func examples() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.withSession { session in
            let specification = SpecificationSession(session: session)
            for example in Self.examples {
                let (sql, engine) = try specification.withPolicy(example.policy) { written in
                    #expect(written.refusedRows == 0, "\(example)")
                    let client = try example.check.client.client()
                    let engine = try Answer(CompiledPolicy(written.read), client, at: example.check.time)
                    return (try specification.answers(to: [example.check])[0], engine)
                }
                #expect(sql.explanations == [example.row], "\(example) in SQL")
                #expect(engine.explanations == [example.row], "\(example) in the engine")
            }
        }
    }
}
