import TestPolicies
import TestRandom
import Testing

@testable import UpdatePolicy

@Suite("Conditions")
struct ConditionPropertyTests {
    @Test("A check meets a rule if it meets each condition when they are asked one by one")
    func random() throws {
        var generator = PolicyGenerator(.crowded, SeededGenerator())
        let seed = generator.random.seed
        print("conditions: seed \(seed)")
        var unmet: Set<Condition> = []
        // Some conditions decide seldom: the policies go on until each has.
        for number in 0..<2_000 where number < 60 || unmet.count < Condition.allCases.count {
            let policy = try CompiledPolicy(generator.policy(rules: 20))
            for _ in 0..<10 {
                let client = try generator.client()
                let time = generator.time()
                let app = policy.app(of: client)
                var evaluator = Evaluator(policy, app, Asker(client), at: time)
                for rule in policy.rules(of: app) {
                    var offers: Offers?
                    let facts = try #require(evaluator.facts(for: rule))
                    let isMet = rule.group.isMet(rule.index, by: client, facts, app, &offers)
                    let first = Condition.allCases.first { evaluator.verdict($0, of: rule) < .met }
                    if let first { unmet.insert(first) }
                    // A check does not come to the rules of an app that is paused.
                    if first != .paused { #expect(isMet == (first == nil), "seed \(seed)") }
                }
            }
        }
        #expect(unmet.count == Condition.allCases.count, "seed \(seed): only \(unmet)")
    }

    @Test("A language is in the intervals of ranges that hold it, and in no other")
    func languages() {
        var random = SeededGenerator()
        let seed = random.seed
        print("languages: seed \(seed)")
        let subtags = ["a", "de", "de1", "de!", "zh", "zh0", "", "\u{E9}", "*"]
        func tag() -> String {
            (0..<Int.random(in: 1...4, using: &random)).map { _ in random.pick(subtags) }
                .joined(separator: random.pick(["-", "_"]))
        }
        for _ in 0..<2_000 {
            let ranges = (0..<12).map { _ in tag() }.filter { !$0.isEmpty }
            let scale = LanguageScale(ranges)
            let some = Array(ranges.prefix(Int.random(in: 1...12, using: &random)))
            let intervals = scale.ranks(of: some)
            for language in (0..<5).map({ _ in LanguageTag(tag()) }) + ranges.map({ LanguageTag($0) }) {
                let isHeld = some.contains { language.matches(LanguageTag($0)) }
                let rank = scale.rank(of: language)
                #expect(intervals.contains { $0.contains(rank) } == isHeld, "\(language) in \(some), seed \(seed)")
            }
            for (interval, next) in zip(intervals, intervals.dropFirst()) { #expect(interval.upper <= next.lower) }
        }
    }
}
