import Postgres
import TestDatabase
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@Suite("Rollouts")
struct RolloutTests {
    /// Random install ids, as apps make them: 128 bits in hexadecimal digits.
    private static func installs(_ count: Int, seed: UInt64) -> [UTF8Text] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            UTF8Text(String(random.next(), radix: 16) + "-" + String(random.next(), radix: 16))
        }
    }

    @Test("37.25 % reach that share of 1,000,000 random installs, within 0.2 points", .whole)
    func share() throws {
        let rollout = try #require(Percentage("37.25"))
        let reached = Self.installs(1_000_000, seed: 1).count { Bucket(key: "ramp", install: $0).isIn(rollout) }
        #expect(abs(Double(reached) / 1_000_000 - 0.3725) < 0.002, "\(reached) of 1,000,000")
    }

    @Test("Going up never drops a client")
    func rises() throws {
        let clients = try Self.installs(2_000, seed: 2).map { install in
            try (["bundle": "a", "install": .text(install.string)] as ClientDescription).client()
        }
        var reached: Set<Int> = []
        for hundredths in [0, 1, 50, 500, 2_500, 3_725, 5_000, 9_999, 10_000] {
            let rule = Rule(key: "ramp", title: "t", text: "x") {
                $0.rollout = Percentage(hundredths: hundredths) ?? .zero
            }
            let policy = try CompiledPolicy(Policy(revision: 1, token: "", rules: [rule]))
            let now = Set(clients.indices.filter { !policy.messages(for: clients[$0], at: TestPolicy.noon).isEmpty })
            #expect(reached.isSubset(of: now), "\(hundredths) hundredths of a percent drop somebody")
            reached = now
        }
        #expect(reached.count == clients.count)
    }

    /// With 81 degrees of freedom chi-square stays under 134 for all but 2 of 10,000 independent pairs of keys.
    @Test("The buckets of two rules are independent", arguments: [("a", "b"), ("rule-1", "rule-10"), ("k.2", "k-2")])
    func independence(first: String, second: String) {
        let installs = Self.installs(50_000, seed: 3)
        var counts = [Double](repeating: 0, count: 100)
        for install in installs {
            let row = Bucket(key: first, install: install).number / 1_000
            counts[row * 10 + Bucket(key: second, install: install).number / 1_000] += 1
        }
        let expected = Double(installs.count) / 100
        let chiSquare = counts.reduce(0) { $0 + ($1 - expected) * ($1 - expected) / expected }
        #expect(chiSquare < 134)
    }

    @Test("SQL puts random installs into the engine's buckets", .migratedDatabase)
    func bucketsInSQL() async throws {
        let installs = Self.installs(20_000, seed: 4)
        let connection = try await TestDatabase.current.connect()
        let buckets = try await connection.query(
            "SELECT array_agg(rollout_bucket('ramp', install) ORDER BY place) "
                + "FROM unnest($1::text[]) WITH ORDINALITY AS installs(install, place)",
            [installs.map(\.string)]
        ).value(as: [Int].self)
        #expect(buckets == installs.map { Bucket(key: "ramp", install: $0).number })
    }
}
