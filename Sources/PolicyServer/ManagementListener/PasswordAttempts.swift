// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CheckListener
import NIOCore
import Synchronization

/// How often an address may give a wrong password: ten times at once, and then once in ten seconds.
///
/// Until then it is refused whatever it gives, so a guess that is right is not told from one that is wrong. A right password
/// costs nothing. The last 1,024 addresses that gave wrong ones are remembered.
final class PasswordAttempts: Sendable {
    private let buckets = Mutex(TokenBuckets(limit: RateLimit(perSecond: 0.1, burst: 10), rows: 128))

    /// Counts a password that an address gave.
    ///
    /// - Returns: In how many seconds, rounded up, the address may try again; nil if it may now, so this password counts.
    func wait(_ address: IPAddress, isRight: Bool, now: NIODeadline) -> Int64? {
        let block = AddressBlock(address)
        // Swift seeds its hashes for each process, so nobody can aim at somebody else's row.
        let hash = UInt64(bitPattern: Int64(block.hashValue))
        let time = Int64(now.uptimeNanoseconds)
        let wait = buckets.withLock { buckets in
            isRight ? buckets.wait(block, hash: hash, now: time) : buckets.take(block, hash: hash, now: time)
        }
        return wait.map { ($0 + 999_999_999) / 1_000_000_000 }
    }
}
