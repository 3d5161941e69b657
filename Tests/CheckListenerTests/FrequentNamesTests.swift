import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Frequent names")
struct FrequentNamesTests {
    @Test("Names are counted exactly while there is room for all of them")
    func exact() {
        var names = FrequentNames()
        for number in 0..<FrequentNames.capacity {
            for _ in 0...number { names.note("n\(number)") }
        }
        #expect(names.sorted.count == FrequentNames.capacity)
        #expect(names.sorted.first == .init(name: "n99", count: 100, error: 0))
        #expect(names.sorted.last == .init(name: "n0", count: 1, error: 0))
    }

    @Test("A name that comes often stays among any number of others, and its count is too high by its error at most")
    func flood() throws {
        var names = FrequentNames()
        for number in 0..<100_000 {
            names.note("made-up-\(number)")
            if number % 50 == 0 { names.note("com.example.real") }
        }
        #expect(names.sorted.count == FrequentNames.capacity)
        let real = try #require(names.sorted.first { $0.name == "com.example.real" })
        #expect(real.count >= 2_000)
        #expect(real.count - real.error <= 2_000)
        names.note(String(repeating: "a", count: FrequentNames.longestName + 1))
        #expect(!names.sorted.contains { $0.name.utf8.count > FrequentNames.longestName })
    }

    @Test("The names of several event loops add up")
    func adds() {
        var left = FrequentNames()
        var right = FrequentNames()
        for _ in 0..<3 { left.note("a") }
        right.note("a", weight: 16)
        right.note("b")
        left.add(right)
        #expect(left.sorted == [.init(name: "a", count: 19, error: 0), .init(name: "b", count: 1, error: 0)])
    }

    @Test("A recorder notes unknown bundles, and languages that no text of a message is in, and nothing else")
    func recorder() throws {
        let policy = try CompiledPolicy(
            Policy(
                revision: 1,
                token: "token",
                apps: [App(bundle: "com.example.doto")],
                rules: [
                    Rule(key: "a", title: "T", text: "X") {
                        $0.bundle = "com.example.doto"
                        $0.texts = [RuleText(language: "de", title: "T", text: "X")]
                    }
                ]
            )
        )
        let recorder = CheckRecorder(limit: CardinalityLimit(maximum: 100))
        let now = Timestamp(secondsSince1970: 0)
        func check(_ members: KeyValuePairs<String, String>) throws {
            var client = Client()
            for (name, value) in members { try client.set(UTF8Text(name), to: .text(UTF8Text(value))) }
            recorder.record(client, policy.answer(to: client, at: now), policy, at: now)
        }
        for _ in 0..<64 {
            try check(["bundle": "com.example.doto", "language": "fr-CH", "install": "id", "channel": "beta"])
        }
        for _ in 0..<64 { try check(["bundle": "com.example.doto", "language": "de-AT"]) }
        for _ in 0..<3 { try check(["bundle": "com.example.typo", "install": "id", "region": "JP", "language": "xx"]) }
        let names = recorder.unknownNames
        #expect(names.unlistedBundles.sorted == [.init(name: "com.example.typo", count: 3, error: 0)])
        #expect(names.textlessLanguages.sorted == [.init(name: "fr-CH", count: 64, error: 0)])
    }
}
