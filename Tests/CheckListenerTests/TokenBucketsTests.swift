import TestRandom
import Testing

@testable import CheckListener

@Suite("Token buckets")
struct TokenBucketsTests {
    private func blocks(_ count: Int) -> [AddressBlock] {
        (0..<count).map { AddressBlock(IPAddress(ipv4: UInt32($0) &* 2_654_435_761)) }
    }

    @Test(
        "Buckets let through exactly what buckets with an amount in them do, while the addresses fit",
        arguments: 0..<20
    )
    func agreesWithTheNaiveBuckets(part: Int) throws {
        var random = SeededGenerator()
        let limit = try RateLimit(
            parsing:
                "\(random.pick(["0.5", "1", "3", "7.5", "100", "999983"])):\(Int.random(in: 1...20, using: &random))"
        )
        var buckets = TokenBuckets(limit: limit, rows: 1)
        var naive = NaiveTokenBuckets(limit)
        let blocks = blocks(8)
        var now = Int64.random(in: 0...1_000_000_000_000, using: &random)
        for step in 0..<5_000 {
            let block = random.pick(blocks)
            let expected = naive.wait(block, now: now)
            let comment: Comment = "step \(step), \(limit), seed \(random.seed)"
            #expect(buckets.wait(block, takesToken: false, hash: 0, now: now) == expected, comment)
            let wait = buckets.wait(block, takesToken: true, hash: 0, now: now)
            if wait == nil { naive.spend(block) }
            #expect(wait == expected, comment)
            now += random.chance(50) ? 0 : Int64.random(in: 0...limit.interval * 3, using: &random)
        }
    }

    @Test("Buckets refuse an address only when it has used up its tokens, however many addresses there are")
    func isNeverStricterThanTheNaiveBuckets() throws {
        var random = SeededGenerator()
        let limit = try RateLimit(parsing: "2:4")
        var buckets = TokenBuckets(limit: limit, rows: 4)
        var naive = NaiveTokenBuckets(limit)
        let blocks = blocks(500)
        var now: Int64 = 0
        var refused = 0
        var forgotten = 0
        for step in 0..<50_000 {
            // Few addresses ask often, many now and then.
            let block = random.chance(20) ? blocks[Int.random(in: 0..<8, using: &random)] : random.pick(blocks)
            let hash = (block.base.low &* 0x9E37_79B9_7F4A_7C15) >> 20
            let wait = buckets.wait(block, takesToken: true, hash: hash, now: now)
            let expected = naive.wait(block, now: now)
            if wait == nil { naive.spend(block) }
            if wait != nil {
                refused += 1
                #expect(expected != nil, "step \(step), seed \(random.seed)")
            } else if expected != nil {
                forgotten += 1
            }
            now += Int64.random(in: 0...4_000_000, using: &random)
        }
        #expect(refused > 1_000, "seed \(random.seed)")
        #expect(forgotten > 0, "seed \(random.seed)")
    }

    @Test("Buckets in the long run let through the rate, and after a pause the burst")
    func letsThroughTheRate() throws {
        var buckets = TokenBuckets(limit: try RateLimit(parsing: "10:5"), rows: 1)
        let block = blocks(1)[0]
        var passed = 0
        for now in stride(from: Int64(0), to: 10_000_000_000, by: 1_000_000)
        where buckets.wait(block, takesToken: true, hash: 0, now: now) == nil { passed += 1 }
        #expect(passed == 10 * 10 + 4, "the burst, and one each tenth of a second after the first")
        let later: Int64 = 3_600_000_000_000
        #expect((0..<10).filter { _ in buckets.wait(block, takesToken: true, hash: 0, now: later) == nil }.count == 5)
        #expect(buckets.wait(block, takesToken: true, hash: 0, now: later) == 100_000_000)
    }

    @Test(
        "Buckets have a rate that is written as a number, with a burst if one is wanted",
        arguments: [("5", 5.0, 5), ("0.5", 0.5, 1), ("2.5", 2.5, 3), ("5:20", 5.0, 20), ("1000000:1", 1_000_000.0, 1)]
    )
    func readsRates(text: String, perSecond: Double, burst: Int) throws {
        let limit = try RateLimit(parsing: text)
        #expect(limit.perSecond == perSecond)
        #expect(limit.burst == burst)
    }

    @Test(
        "Buckets have no rate that is not one",
        arguments: ["", "0", "-1", "nan", "inf", "5:", "5:0", "5:1.5", ":5", "5:5:5", "1e7", "five", "5/s"]
    )
    func refusesRates(text: String) { #expect(throws: LimitSyntaxError.self) { _ = try RateLimit(parsing: text) } }
}
