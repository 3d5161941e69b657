@testable import CheckListener

/// Token buckets as a book describes them: each holds an amount, which grows with time up to the most it may.
///
/// It remembers every address for ever. An amount is kept in nanoseconds of waiting, so that nothing is rounded.
struct NaiveTokenBuckets {
    private struct Bucket {
        var amount: Int64
        var filledAt: Int64
    }

    private let interval: Int64
    private let most: Int64
    private var buckets: [AddressBlock: Bucket] = [:]

    init(_ limit: RateLimit) {
        interval = limit.interval
        most = limit.interval * Int64(limit.burst)
    }

    /// How long until there is a token; nil when there is one.
    mutating func wait(_ block: AddressBlock, now: Int64) -> Int64? {
        var bucket = buckets[block] ?? Bucket(amount: most, filledAt: now)
        bucket.amount = min(most, bucket.amount + now - bucket.filledAt)
        bucket.filledAt = now
        buckets[block] = bucket
        return bucket.amount >= interval ? nil : interval - bucket.amount
    }

    /// Takes a token, or owes it when there is none.
    mutating func spend(_ block: AddressBlock) { buckets[block]?.amount -= interval }
}
