/// A token bucket for each of many addresses, in a table that never grows.
///
/// A bucket is kept as the time at which it will be full again, so nothing has to be refilled: a check moves that time by
/// the interval of the rate, and is refused if it would then lie more than a whole bucket ahead (the generic cell rate
/// algorithm).
///
/// The table has rows of eight places, and an address belongs to one row. When a row is full, the bucket that is full or
/// will be full soonest is forgotten. To forget a full bucket changes nothing; to forget another gives that address its
/// tokens back. So with more addresses than places the limit becomes more lenient, and never stricter.
struct TokenBuckets {
    private struct Place {
        var block: AddressBlock
        /// When the bucket is full, in nanoseconds; `Int64.min` in a place that was never used.
        var fullAt: Int64
    }

    private static let placesPerRow = 8

    private let interval: Int64
    /// How far ahead the time may lie at which a bucket is full.
    private let capacity: Int64
    private let rowMask: Int
    private var places: [Place]

    /// - Parameter rows: How many rows the table has, a power of two; each holds eight addresses in 256 bytes.
    init(limit: RateLimit, rows: Int) {
        precondition(rows > 0 && rows & (rows - 1) == 0)
        interval = limit.interval
        capacity = limit.interval * Int64(limit.burst)
        rowMask = rows - 1
        places = Array(
            repeating: Place(block: AddressBlock(IPAddress(ipv4: 0)), fullAt: .min),
            count: rows * Self.placesPerRow
        )
    }

    /// In how many nanoseconds there will be a token in an address' bucket; nil when there is one.
    ///
    /// - Parameters:
    ///   - takesToken: Whether that one is taken.
    ///   - hash: A hash of `block`, the same each time, which picks the row.
    ///   - now: The time in nanoseconds, by a clock that does not go back.
    mutating func wait(_ block: AddressBlock, takesToken: Bool, hash: UInt64, now: Int64) -> Int64? {
        let row = Int(truncatingIfNeeded: hash) & rowMask * Self.placesPerRow
        var chosen = row
        for index in row..<row + Self.placesPerRow {
            if places[index].fullAt != .min, places[index].block == block {
                chosen = index
                break
            }
            if places[index].fullAt < places[chosen].fullAt {
                chosen = index
            }
        }
        let isKnown = places[chosen].fullAt != .min && places[chosen].block == block
        let fullAt = (isKnown ? max(places[chosen].fullAt, now) : now) + interval
        guard fullAt - now <= capacity else { return fullAt - now - capacity }
        if takesToken { places[chosen] = Place(block: block, fullAt: fullAt) }
        return nil
    }
}
