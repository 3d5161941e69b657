// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOHTTP1

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
    func refusal(of head: HTTPRequestHead) -> RequestFault? {
        let client =
            isProxy ? limiter.proxies.client(peer: peer, forwardedFor: head.headers["x-forwarded-for"]) : peer
        guard let seconds = limiter.take(AddressBlock(client)) else { return nil }
        return RequestFault(
            .tooManyRequests,
            "This address asks too often; the next request is answered in \(seconds) s.",
            header: ("Retry-After", "\(seconds)")
        )
    }
}
