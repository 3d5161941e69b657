// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Testing

@testable import PolicyServer

@Suite("The backoff between attempts to connect")
struct ReconnectBackoffTests {
    /// Always the same number, so that delays are known.
    struct FixedGenerator: RandomNumberGenerator {
        let value: UInt64
        func next() -> UInt64 { value }
    }

    @Test("doubles up to the bound, within half and the whole of each step")
    func doubles() {
        for value in [UInt64.min, .max / 2, .max] {
            var generator = FixedGenerator(value: value)
            var backoff = ReconnectBackoff()
            var step = ReconnectBackoff.initial
            for _ in 0..<10 {
                let delay = backoff.nextDelay(using: &generator)
                #expect(delay >= step / 2)
                #expect(delay <= step)
                step = min(step * 2, ReconnectBackoff.maximum)
            }
        }
    }

    @Test("begins anew after a success")
    func resets() {
        var generator = FixedGenerator(value: .max)
        var backoff = ReconnectBackoff()
        for _ in 0..<10 { _ = backoff.nextDelay(using: &generator) }
        backoff.reset()
        let first = backoff.nextDelay(using: &generator)
        #expect(first <= ReconnectBackoff.initial)
    }
}
