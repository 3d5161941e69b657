import TestPolicies
import Testing
import UpdatePolicy

/// The contract by example in the engine; `EquivalenceTests` asks SQL and the engine.
@Suite("Semantic cases")
struct SemanticCaseTests {
    private let cases = SemanticCases.all

    @Test("The engine sends and explains what the case says", arguments: SemanticCases.all.policies)
    func answers(_ semanticCase: SemanticCase) throws {
        let policy = try CompiledPolicy(semanticCase.policy)
        for expected in semanticCase.checks {
            let (client, time) = (try expected.check.client.client(), expected.check.time)
            let comment: Comment = "\(semanticCase.testDescription), \(expected.check.json)"
            let explained = policy.explain(client, at: time)
            let faults = expected.faults(policy.messages(for: client, at: time)) { key in
                explained.filter { $0.key == key }.flatMap { row in
                    [row.outcome.rawValue, row.condition, "rollout \(row.rollout)"].compactMap(\.self)
                }
            }
            #expect(faults == [], comment)
            #expect(policy.keys(client, at: time).joined(separator: " ") == expected.sent, comment)
        }
    }

    @Test("Versions compare as the cases say, each with each")
    func compares() throws {
        for order in cases.orders {
            for (a, b, expected) in order.pairs {
                let (left, right) = (try #require(AppVersion(a)), try #require(AppVersion(b)))
                let actual = left < right ? -1 : right < left ? 1 : 0
                #expect(actual == expected, "row \(order.row): \(a) and \(b)")
            }
        }
    }

    @Test("Ranges hold what the cases say")
    func holds() throws {
        for range in cases.ranges {
            let parsed = try #require(VersionRange(range.range), "row \(range.row)")
            for (version, isHeld) in range.versions {
                let actual = AppVersion(version).map(parsed.contains) ?? false
                #expect(actual == isHeld, "row \(range.row): \(version) in \(range.range)")
            }
        }
    }

    @Test("A text that is no range is refused")
    func refusesRange() throws {
        let wrong = cases.wrongRanges.map { ($0.row, $0.range) } + cases.meantRanges.map { ($0.row, $0.range) }
        for (row, range) in wrong { #expect(VersionRange(range) == nil, "row \(row): \"\(range)\"") }
        #expect(VersionRange("=100-120")?.contains(try #require(AppVersion("100-120"))) == true)
    }

    @Test("Countries are read from locales")
    func readsRegion() {
        for region in cases.regions {
            #expect(Region(locale: region.sent)?.code == region.country, "row \(region.row): \(region.sent)")
        }
    }

    @Test("A known member of a wrong type is refused by name")
    func refusesClient() {
        for wrong in cases.wrongClients {
            let comment: Comment = "row \(wrong.row): \(wrong.client.json)"
            let error = #expect(throws: ClientError.self, comment) { try wrong.client.client() }
            #expect(error?.member == wrong.names, comment)
        }
    }

    @Test("A member that is there twice is refused (row 39)")
    func refusesDuplicates() throws {
        let error = #expect(throws: ClientError.self) {
            try (["bundle": "a", "bundle": "b"] as ClientDescription).client()
        }
        #expect(error?.reason == .duplicate)
    }

    @Test("Buckets are those of the contract")
    func buckets() {
        for bucket in cases.buckets {
            let number = Bucket(key: bucket.key, install: UTF8Text(bucket.install)).number
            #expect(number == bucket.bucket, "row \(bucket.row): \(bucket.key)")
        }
    }

    @Test("A percentage that would be rounded, or is none, is refused")
    func refusesPercentage() {
        for wrong in cases.wrongPercentages {
            #expect(Percentage(wrong.percentage) == nil, "row \(wrong.row): \(wrong.percentage)")
        }
    }
}
