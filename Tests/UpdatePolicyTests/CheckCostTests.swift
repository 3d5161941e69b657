import TestPolicies
import TestSystem
import Testing

@testable import UpdatePolicy

@Suite("Check cost")
struct CheckCostTests {
    static let texts = ["-", "a-", "_", "A_", ".", "@", "a", "\u{E9}", "zh-Hant-"]

    @Test("However long a member is, the engine sees no more of it than its bound", arguments: texts)
    func members(_ text: String) throws {
        let long = UTF8Text(String(repeating: text, count: 16_000))
        var client = Client()
        for member in ClientField.allCases where ![.bundle, .manual].contains(member) {
            try client.set(member, to: .text(long))
        }
        for number in 0..<64 {
            try client.set(UTF8Text("\(number)"), to: .text(long))
            try client.set(UTF8Text("\(number)\(long)"), to: .text("a"))
        }
        try client.set(.bundle, to: .text("com.example.doto"))
        #expect(client.language == nil && client.regionText == nil && client.platformText == nil)
        #expect(client.install == nil && client.attributes.isEmpty)
        #expect(client.versionKey == nil && client.buildKey == nil && client.osKey == nil)
    }

    @Test("All rules of a check look at each release once, whatever their soaks", arguments: [false, true])
    func offers(_ isLockout: Bool) throws {
        func cost(_ count: Int) throws -> UInt64 {
            let rules = (0..<count).map { number in
                TestPolicy.rule("r\(number)") {
                    $0.target = isLockout ? "1.0" : "101"
                    $0.lockout = isLockout
                    $0.soak = DayTimeInterval(microseconds: Int64(number) * 1_000_000)
                }
            }
            let unreachable = (0..<4_000).map { number in
                TestPolicy.release("102.\(number)") { ($0.id, $0.minOS) = (Int64(10 + number), "99") }
            }
            let policy = try TestPolicy.policy(rules, releases: unreachable + [TestPolicy.release("1.0")])
            let client = try TestPolicy.client(["platform": "ios", "version": "0.5", "os": "17"])
            #expect(policy.messages(for: client, at: TestPolicy.noon).count == (isLockout ? count : 0))
            return CPUTime.least(of: 5) { _ = policy.messages(for: client, at: TestPolicy.noon) }
        }
        let (one, many) = (try cost(1), try cost(200))
        #expect(many < 20 * one, "\(many) ns, beside \(one) ns")
    }

    @Test("Answers do not depend on the secret of the hashes")
    func seeds() throws {
        let rules = (0..<40).map { number in
            TestPolicy.rule("r\(number)") { rule in
                switch number % 4 {
                case 0: rule.languages = ["zh", "zh-Hant", "de"]
                case 1: rule.regions = ["JP", "TW"]
                case 2: rule.attributes = [AttributeCondition(name: "channel", values: ["beta", "b\(number)"])]
                default: rule.platforms = ["iPadOS"]
                }
            }
        }
        let rows = Policy(revision: 1, token: "t", apps: [App(bundle: TestPolicy.bundle)], rules: rules)
        let client = try TestPolicy.client([
            "language": "zh_Hant_TW", "region": "zh_Hant_TW", "channel": "beta", "platform": "ios",
        ])
        for seed: UInt64 in [0, 1, 0x9E37_79B9_7F4A_7C15, .max] {
            #expect(try CompiledPolicy(rows, hashSeed: seed).keys(client).count == 40)
        }
    }
}
