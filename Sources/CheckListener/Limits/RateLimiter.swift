package import NIOCore
import Synchronization

/// Holds clients to a rate, by their addresses.
///
/// The buckets are spread over shards with a lock each, so that event loops seldom wait for each other. All of them
/// together remember the last 65,536 addresses in two megabytes.
package final class RateLimiter: Sendable {
    private final class Shard: Sendable {
        let buckets: Mutex<TokenBuckets>

        init(_ buckets: TokenBuckets) {
            self.buckets = Mutex(buckets)
        }
    }

    private static let shardCount = 64
    private static let rowsPerShard = 128

    /// The proxies whose `X-Forwarded-For` is believed.
    let proxies: TrustedProxies
    private let shards: [Shard]

    package init(_ limit: RateLimit, proxies: TrustedProxies = TrustedProxies()) {
        self.proxies = proxies
        shards = (0..<Self.shardCount).map { _ in Shard(TokenBuckets(limit: limit, rows: Self.rowsPerShard)) }
    }

    /// In how many whole seconds, rounded up, there will be a token in an address' bucket; nil when there is one.
    ///
    /// - Parameter takesToken: Whether that one is taken.
    package func wait(_ client: IPAddress, takesToken: Bool, now: NIODeadline = .now()) -> Int64? {
        let block = AddressBlock(client)
        // Swift seeds its hashes for each process, so nobody can aim at somebody else's row.
        let hash = UInt64(bitPattern: Int64(block.hashValue))
        let shard = shards[Int(truncatingIfNeeded: hash >> 32) & (Self.shardCount - 1)]
        let wait = shard.buckets.withLock {
            $0.wait(block, takesToken: takesToken, hash: hash, now: Int64(now.uptimeNanoseconds))
        }
        return wait.map { ($0 + 999_999_999) / 1_000_000_000 }
    }
}

/// The client at the other end of one connection, as the rate limit sees it.
struct LimitedClient {
    private let limiter: RateLimiter
    private let peer: IPAddress
    private let isProxy: Bool

    init(peer: IPAddress, limiter: RateLimiter) {
        self.limiter = limiter
        self.peer = peer
        isProxy = limiter.proxies.contains(peer)
    }

    /// Counts a request; 429 when its client has asked too often.
    ///
    /// - Parameters:
    ///   - forwardedFor: The values of `X-Forwarded-For`, which count where the peer is a trusted proxy.
    ///   - document: What the client is sent in place of a problem.
    func refusal(
        forwardedFor: @autoclosure () -> [String],
        document: @autoclosure () -> (contentType: String, bytes: [UInt8])? = nil
    ) -> RequestFault? {
        let client = isProxy ? limiter.proxies.client(peer: peer, forwardedFor: forwardedFor()) : peer
        guard let seconds = limiter.wait(client, takesToken: true) else { return nil }
        return RequestFault(
            .tooManyRequests, "This address asks too often; the next request is answered in \(seconds) s.",
            header: ("Retry-After", "\(seconds)"), document: document()
        )
    }
}

package struct RateLimit: Hashable, Sendable {
    /// Checks a second in the long run: more than 0, at most 1,000,000.
    package let perSecond: Double
    /// How many may come at once after a pause: 1 to 1,000,000.
    package let burst: Int

    package init(perSecond: Double, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// Reads `PER_SECOND` or `PER_SECOND:BURST`; without a burst it is the rate, rounded up.
    ///
    /// - Throws: ``LimitSyntaxError`` with what was written and what may be.
    package init(parsing text: String) throws(LimitSyntaxError) {
        let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let perSecond = halves.first.flatMap({ Double($0) }), perSecond >= 0.001, perSecond <= 1_000_000 else {
            throw Self.fault(text)
        }
        self.perSecond = perSecond
        guard halves.count > 1 else {
            burst = Int(perSecond.rounded(.up))
            return
        }
        guard let burst = Int(halves[1]), (1...1_000_000).contains(burst) else {
            throw Self.fault(text)
        }
        self.burst = burst
    }

    private static func fault(_ text: String) -> LimitSyntaxError {
        LimitSyntaxError(
            "\"\(text)\" is not a rate; write PER_SECOND, from 0.001 to 1000000, or PER_SECOND:BURST with a whole burst "
                + "from 1 to 1000000, such as 5:20"
        )
    }

    /// The time in which one check is earned, in nanoseconds.
    var interval: Int64 { Int64((1e9 / perSecond).rounded()) }
}

/// A rate, or a list of proxies or origins, that cannot be read.
package struct LimitSyntaxError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
