import TestRandom
import Testing

@testable import CheckListener
@testable import UpdatePolicy

@Suite("Cardinality limit")
struct CardinalityLimitTests {
    @Test(
        "The kinds that are let in are never more than the limit, and leave room for releases and for other apps, in whatever order they come"
    )
    func holdsItsBounds() {
        var random = SeededGenerator()
        let seed = random.seed
        for _ in 0..<50 {
            let maximum = Int.random(in: 0...2_000, using: &random)
            let limit = CardinalityLimit(maximum: maximum)
            let floods = Int.random(in: 1...5, using: &random)
            let released = random.pick([0, 20, 100])
            var taken: [String: Int] = [:]
            var madeUp = 0
            for _ in 0..<(8 * maximum) {
                let app = "flood-\(Int.random(in: 0..<floods, using: &random))"
                let isReleased = random.chance(released)
                if limit.acquire(0, isReleased: isReleased, app: app, hour: 5) {
                    taken[app, default: 0] += 1
                    if !isReleased { madeUp += 1 }
                }
            }
            #expect(taken.values.reduce(0, +) <= maximum, "seed \(seed)")
            #expect(madeUp <= maximum - maximum / 4, "seed \(seed)")
            // One part of 1 + 4 n is left to the others of the places that the flood could take.
            let left = (maximum - maximum / 4) / (1 + 4 * floods) - floods - 1
            var honest = 0
            while honest < left / 2, limit.acquire(0, isReleased: false, app: "honest", hour: 5) { honest += 1 }
            #expect(honest >= left / 2, "seed \(seed): \(honest) of \(left)")
        }
    }

    @Test(
        "Places for kinds of clients are all free in a new hour, also where the clock is set back, and not for a recorder that is late"
    )
    func beginsAnew() {
        let limit = CardinalityLimit(maximum: 1)
        #expect(limit.acquire(0, isReleased: false, app: "a", hour: 5))
        #expect(!limit.acquire(0, isReleased: false, app: "a", hour: 5))
        #expect(limit.acquire(0, isReleased: false, app: "a", hour: 6))
        #expect(!limit.acquire(0, isReleased: false, app: "a", hour: 5))
        #expect(!limit.acquire(0, isReleased: false, app: "a", hour: 6))
        #expect(limit.acquire(0, isReleased: false, app: "a", hour: 2))
    }

    @Test("A kind keeps its place for an hour, and what is known needs none")
    func remembers() {
        let limit = CardinalityLimit(maximum: 1)
        #expect(!limit.holds(7, hour: 5))
        #expect(limit.acquire(7, isReleased: false, app: "a", hour: 5))
        #expect(limit.holds(7, hour: 5) && !limit.holds(8, hour: 5) && !limit.holds(7, hour: 6))
        let kind = ClientKind(bundle: "a", platform: "ios", version: "1")
        limit.learn([kind])
        #expect(limit.holds(kind.bytes.withUnsafeBytes { CountTable<Int>.hash(of: $0) }, hour: 6))
    }
}
